"""Inputs that a graph can take: sizes that meet its shape constraints, values inside the ranges that its operators ask for."""
