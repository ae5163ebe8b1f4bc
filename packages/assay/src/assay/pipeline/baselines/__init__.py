"""Approved engines: set, found again, listed, made current again."""
