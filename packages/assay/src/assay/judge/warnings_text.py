"""What a verdict does not rest on, in words."""

from __future__ import annotations

from assay.core.result import LossResult, Result, UntakenBranch


def warnings_of(result: Result) -> tuple[str, ...]:
    """Branches that no sample takes first, then what the job itself warns of."""
    untaken = result.untaken_branches if isinstance(result, LossResult) else ()
    return (*map(_untaken, untaken), *result.warnings)


def _untaken(one: UntakenBranch) -> str:
    """With the option by which a sample would take it."""
    told = f"no sample takes the {one.branch} branch of If '{one.node}': nothing is known of what an engine does there"
    if one.by_sizes:
        return f"{told}; sizes of inputs decide it: check others with --dim NAME=SIZES"
    tried = f" ({one.tried} other values were tried)" if one.tried else ""
    return f"{told}{tried}; give inputs that take it with --inputs FILE.npz"
