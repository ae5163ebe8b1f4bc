"""Operators in numpy that are too long for their record, or share their code with another: their inner roundings are marked for the
tolerance.
"""
