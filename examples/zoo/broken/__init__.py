"""Submissions that a zoo must not promote, each for one reason only. They are built, never committed."""
