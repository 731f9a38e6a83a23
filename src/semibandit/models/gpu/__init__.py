"""Full matrices on a device: torch and Triton, which are imported in this folder alone."""
