"""Known kinds of miscompilation, injected on purpose: a gate that does not see them is not a gate."""
