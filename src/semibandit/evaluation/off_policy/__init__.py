"""What another policy would have earned, from the log of one that drew its slates at random."""
