"""The paper as pure functions: surrogates, costs, losses, slates, widths, bounds."""
