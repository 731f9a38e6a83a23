"""One module per file format; each reader returns a `Dataset`."""
