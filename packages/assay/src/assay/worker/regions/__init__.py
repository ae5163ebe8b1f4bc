"""Parts of a graph, each run alone on values that were evaluated before: what triage asks."""
