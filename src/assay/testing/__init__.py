"""Fakes, builders and conformance checks, for plug-in authors and for us."""
