"""How long one call takes, and which of two engines is faster."""
