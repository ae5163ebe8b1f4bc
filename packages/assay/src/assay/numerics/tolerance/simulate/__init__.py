"""Evaluations with rounding noise: what a correct engine may answer."""
