"""How large the rounding noise of each operator is."""
