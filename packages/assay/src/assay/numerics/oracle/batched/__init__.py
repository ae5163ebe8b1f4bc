"""Several evaluations of one graph at once, each a row of a leading axis: Python's time for a small operator is paid once.

An operator that has no lift, or a form that its lift leaves alone, is evaluated row by row.
"""
