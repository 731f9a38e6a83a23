"""The event log: decisions, feedback and label changes in one order, and snapshots beside it."""
