"""What must agree before a number is looked at: samples, names and their order, types, shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.comparison import Finding
from assay.core.dtype import dtype_name
from assay.core.tensor_parts import whole_name
from assay.numerics.element_types import real_name
from assay.ports import Tensors


def check_structure(
    actual: Sequence[Tensors], expected: Sequence[Tensors], names: Sequence[str], dtypes: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Every difference once, told at the first sample that shows it. `dtypes` are those declared, by output."""
    found: dict[tuple[str, str], Finding] = {}

    def note(kind: str, output: str, text: str) -> None:
        found.setdefault((kind, output), Finding(kind, output, text))

    if len(actual) != len(expected):
        note("samples", "", f"{len(actual)} samples where the reference has {len(expected)}: run every stored sample.")
    if not expected:
        note("empty", "", "The reference has no sample: nothing was compared.")
    elif not names:
        note("empty", "", "The reference has no output: nothing was compared.")
    for sample, (left, right) in enumerate(zip(actual, expected, strict=False)):
        for kind, output, text in _sample(left, right, names, dtypes):
            note(kind, output, f"Sample {sample}: {text}")
    return tuple(found.values())


def _sample(
    left: Tensors, right: Tensors, names: Sequence[str], dtypes: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    parts = {name for name in names if name not in left and name not in right and whole_name(name) != name}
    for name in (name for name in names if name not in left and name not in parts):
        found.append((_kind(name, "missing_output"), name, f"output {name!r} is missing."))
    for name in (name for name in names if name not in right and name not in parts):
        found.append(("missing_reference", name, f"the reference has no output {name!r}: record the goldens again."))
    for name in (name for name in left if name not in names):
        found.append((_kind(name, "extra_output"), name, f"output {name!r} is not one of the model's."))
    for name in (name for name in right if name not in names):
        found.append(("missing_reference", name, f"the reference has an output {name!r} that the model has not."))
    known, order = [name for name in left if name in names], [name for name in names if name in left]
    if known != order:
        found.append(("output_order", "", f"outputs come as {', '.join(known)}; the model has {', '.join(order)}."))
    for name in order:
        if name in right:
            found += _tensor(name, left, right, dtypes)
    return found


def _kind(name: str, of_a_whole: str) -> str:
    """How many parts a sequence or a map has is no more certain than the reference is: a question of its shape."""
    return of_a_whole if whole_name(name) == name else "shape"


def _tensor(name: str, left: Tensors, right: Tensors, dtypes: Mapping[str, str]) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    got, want = dtype_name(left[name].dtype), dtypes.get(name, dtype_name(right[name].dtype))
    if got != want:
        pairs = real_name(want) == got != want and left[name].shape == (*right[name].shape, 2)
        why = " Complex numbers came as pairs of real ones: a converter rewrote the model." if pairs else ""
        found.append(("dtype", name, f"output {name!r} is {got} where {want} is expected.{why}"))
    if left[name].shape != right[name].shape:
        shapes = f"{list(left[name].shape)} where {list(right[name].shape)} is expected"
        found.append(("shape", name, f"output {name!r} has shape {shapes}."))
    return found
