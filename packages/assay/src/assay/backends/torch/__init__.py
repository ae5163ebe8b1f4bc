"""PyTorch: eager, and compiled by Inductor."""
