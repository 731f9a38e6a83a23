"""How well we learn: real sets, a shop, and other libraries. `make bench-quality` runs it all."""
