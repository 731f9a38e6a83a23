"""The service without HTTP: requests into the log and out of it, and learning from it."""
