"""Untrusted code in a sandbox: what it sees, what it may use, how it ended, and what it wrote."""
