"""How the weights and matrices of all labels are kept: full, diagonal, dual, shared."""
