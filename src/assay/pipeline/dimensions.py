"""The sizes that a case names for symbolic dimensions, held against what its model has."""

from __future__ import annotations

import difflib

from assay.core.case import Case
from assay.errors import UsageError

UNNAMED = ("?", "...")


def check_dims(case: Case) -> None:
    """Raises UsageError for a dimension that the model does not have, and for sizes that are out of order."""
    symbols = dict.fromkeys(
        one for spec in case.model.inputs for one in spec.shape if isinstance(one, str) and one not in UNNAMED
    )
    for name, sizes in case.inputs.dims.items():
        check_sizes(name, sizes)
        if name not in symbols:
            raise UsageError(f"model '{case.name}' has no symbolic dimension '{name}'; {_instead(name, list(symbols))}")


def check_sizes(name: str, sizes: tuple[int, int, int]) -> None:
    """Raises UsageError unless 1 <= least <= usual <= most."""
    least, usual, most = sizes
    if not 1 <= least <= usual <= most:
        raise UsageError(
            f"dimension '{name}' is {least}:{usual}:{most}: give the least, the usual and the largest size in this order"
        )


def _instead(name: str, symbols: list[str]) -> str:
    near = difflib.get_close_matches(name, symbols, n=1)
    if near:
        return f"perhaps you mean '{near[0]}'"
    return f"it has {', '.join(symbols)}" if symbols else "all its inputs have fixed shapes"
