"""Launchers: jobs in, one result each out."""
