"""Small helpers that every room may use; they know nothing of learners."""
