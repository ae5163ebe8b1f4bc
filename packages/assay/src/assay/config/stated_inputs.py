"""What a user states of the values of inputs, compared with what the model takes."""

from __future__ import annotations

import difflib

from assay.core.case import Case
from assay.core.dtype import is_floating
from assay.errors import UsageError


def check_stated(case: Case) -> None:
    """Raises UsageError for an input that the model does not have, and for numbers that it cannot hold."""
    known = {spec.name: spec for spec in case.model.inputs}
    for name, input_range in case.inputs.ranges.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            instead = f"perhaps you mean '{near[0]}'" if near else f"it has {', '.join(known) or 'none'}"
            raise UsageError(f"model '{case.name}' has no input '{name}'; {instead}")
        dtype = known[name].dtype
        if dtype == "string":
            raise UsageError(f"input '{name}' of model '{case.name}' takes texts, not numbers; give a golden")
        if case.inputs.golden or case.inputs.data is not None or case.inputs.given:
            raise UsageError(
                f"a range or a value of input '{name}' cannot go with a golden, which brings its own inputs"
            )
        numbers = input_range.choices or tuple(end for end in (input_range.low, input_range.high) if end is not None)
        if not is_floating(dtype) and not dtype.startswith("complex") and any(number % 1 for number in numbers):
            raise UsageError(f"input '{name}' of model '{case.name}' is {dtype}: state whole numbers")
        if (dtype == "bool" and not {*numbers} <= {0, 1}) or (dtype.startswith("uint") and min(numbers) < 0):
            raise UsageError(f"input '{name}' of model '{case.name}' is {dtype}, which does not hold {min(numbers):g}")
