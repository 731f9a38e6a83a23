"""Multilabel data sets: a catalogue, a fetcher, and readers for the files that people have."""
