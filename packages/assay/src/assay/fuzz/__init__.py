"""Cases without end: which generator to ask next, what was found, and one bucket for each cause."""
