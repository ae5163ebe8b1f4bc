"""Every operator that the oracle claims, at every version of its schema, beside independent evaluations."""
