"""Goldens by command: recorded, extended, looked at for what is stale."""
