"""Group `accuracy`: both notebooks executed in the sandbox, and the metric computed again without them."""
