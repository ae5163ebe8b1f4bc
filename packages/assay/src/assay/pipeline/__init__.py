"""The flow of a check and its variations. Adapters come in as arguments.

The files here are the commands, each on a page (`check` first), and what they share. What a page asks for stands in rooms:
`references` and `witnesses` (what is right), `baselines` and `goldens` (what was approved), `past_runs` (what changed),
`suite_cases`, `mutants`, and `kept_files` (what a run leaves).
"""
