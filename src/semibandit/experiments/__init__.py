"""The loop over data and worlds, traces, and the demo."""
