"""The sizes that a case names for symbolic dimensions, compared with what its model has."""

from __future__ import annotations

import difflib

from assay.core.case import Case
from assay.core.model import Model
from assay.errors import UsageError
from assay.options.sizes import check_sizes


def check_dims(case: Case) -> None:
    """Raises UsageError for a dimension that the model does not have, and for sizes that are out of order."""
    symbols = named_dimensions(case.model)
    for name, sizes in case.inputs.dims.items():
        check_sizes(name, sizes)
        if name not in symbols:
            raise UsageError(f"model '{case.name}' has no symbolic dimension '{name}'; {_instead(name, symbols)}")


def named_dimensions(model: Model) -> list[str]:
    """Their names, or `input[2]` for those without."""
    return list(
        dict.fromkeys(
            f"{spec.name}[{axis}]" if one == "?" else one
            for spec in model.inputs
            for axis, one in enumerate(spec.shape)
            if isinstance(one, str) and one != "..."
        )
    )


def _instead(name: str, symbols: list[str]) -> str:
    near = difflib.get_close_matches(name, symbols, n=1)
    if near:
        return f"perhaps you mean '{near[0]}'"
    return f"it has {', '.join(symbols)}" if symbols else "all its inputs have fixed shapes"
