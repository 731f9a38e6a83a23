"""Who decides: SlateUCB is Figure 2 of the paper; OBR and the baselines share its contract."""
