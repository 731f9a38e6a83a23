"""Multilabel data sets: a catalogue with downloads, and readers for common file formats."""
