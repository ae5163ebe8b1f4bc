"""Shapes and ranges of values, and the words in which an operator states what it demands of them."""
