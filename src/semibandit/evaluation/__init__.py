"""What runs a learner: play a world, replay a data set or a log, and record what happened."""
