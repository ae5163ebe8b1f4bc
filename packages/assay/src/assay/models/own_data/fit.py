"""Values that were found, fitted to the tensors that a model declares: by name, by type without loss, by shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.dtype import CONTAINERS, dtype_name, numpy_dtype
from assay.core.model import Model, TensorSpec
from assay.core.nearest_name import nearest
from assay.core.tensor_parts import whole_name
from assay.errors import BadGolden
from assay.models.flatten import declared_types, flatten
from assay.models.own_data.labels import is_label
from assay.models.own_data.raw import SINGLE, Raw
from assay.ports import Tensor

Values = dict[str, Tensor]


def calls_of(raw: Raw, model: Model, state: Mapping[str, str]) -> Iterator[tuple[Values, Values]]:
    """Inputs and expected outputs of each call that `raw` holds. State inputs may be left out. Raises BadGolden."""
    given, expected = _by_role(raw, model, state)
    arrays, answers = (
        {name: _typed(raw, value, _type_of(name, spec), spec.name) for name, (value, spec) in found.items()}
        for found in (given, expected)
    )
    specs = {name: spec for name, (_, spec) in (given | expected).items()}
    _demand_all(raw, [*given, *map(whole_name, given)], model, state)
    stacks = {name: _calls_in(raw, array, specs[name]) for name, array in (arrays | answers).items()}
    count = _count(raw, stacks)
    for number in range(count):
        yield (
            {name: _call(array, specs[name], stacks[name], number) for name, array in arrays.items()},
            {name: _call(array, specs[name], stacks[name], number) for name, array in answers.items()},
        )


def _by_role(
    raw: Raw, model: Model, state: Mapping[str, str]
) -> tuple[dict[str, tuple[Any, TensorSpec]], dict[str, tuple[Any, TensorSpec]]]:
    """Each value, flat, with what the model declares of it."""
    inputs, outputs = ({spec.name: spec for spec in specs} for specs in (model.inputs, model.outputs))
    given: dict[str, tuple[Any, TensorSpec]] = {}
    expected: dict[str, tuple[Any, TensorSpec]] = {}
    for name, value in raw.values.items():
        if is_label(name, model):
            continue
        if name == SINGLE:
            given |= _flat(raw, _only(raw, model, state), value)
        elif name in inputs or _container(name, inputs):
            given |= _flat(raw, inputs.get(name) or inputs[whole_name(name)], value, name)
        elif name in outputs or _container(name, outputs):
            expected |= _flat(raw, outputs.get(name) or outputs[whole_name(name)], value, name)
        else:
            raise BadGolden(_unknown(raw, name, [*inputs, *outputs], model, "neither takes nor gives"))
    for name, value in raw.expected.items():
        if is_label(name, model):
            continue
        if name not in outputs and not _container(name, outputs):
            raise BadGolden(_unknown(raw, name, outputs, model, "does not give"))
        expected |= _flat(raw, outputs.get(name) or outputs[whole_name(name)], value, name)
    return given, expected


def _container(name: str, specs: Mapping[str, TensorSpec]) -> bool:
    """Whether it is a part of a sequence, an optional or a map, by our own names."""
    whole = whole_name(name)
    return whole != name and whole in specs and specs[whole].dtype in CONTAINERS


def _flat(raw: Raw, spec: TensorSpec, value: Any, name: str = "") -> dict[str, tuple[Any, TensorSpec]]:
    if spec.dtype not in CONTAINERS or (name and name != spec.name):
        return {name or spec.name: (value, spec)}
    try:
        return {part: (one, spec) for part, one in flatten(spec.name, value).items()}
    except TypeError as error:
        raise BadGolden(f"{raw.where}: '{spec.name}' is a {spec.dtype} in the model, and {error}") from None


def _only(raw: Raw, model: Model, state: Mapping[str, str]) -> TensorSpec:
    """The input that an array without a name is meant for: the only one that is no state."""
    fed = [spec for spec in model.inputs if spec.name not in state.values()]
    if len(fed) != 1:
        names = ", ".join(spec.name for spec in fed)
        raise BadGolden(
            f"{raw.where} holds one array without a name, and {model.name} has {len(fed)} inputs ({names}); save them by "
            "name with numpy.savez"
        )
    return fed[0]


def _unknown(raw: Raw, name: str, known: Any, model: Model, what: str) -> str:
    near = nearest(name, known)
    takes = ", ".join(spec.name for spec in model.inputs)
    hint = f"perhaps you mean '{near}'" if near else f"it takes {takes}"
    return f"{raw.where} holds '{name}', which {model.name} {what}; {hint}"


def _demand_all(raw: Raw, names: Sequence[str], model: Model, state: Mapping[str, str]) -> None:
    for spec in model.inputs:
        if spec.name in names or spec.name in state.values():
            continue
        from assay.models.own_data.state import proposed

        text = f"{raw.where} lacks the input '{spec.name}' ({spec.dtype}, {_text(spec.shape)}) of {model.name}"
        output = next((one for one, other in proposed(model).items() if other == spec.name), "")
        hint = (
            f"; it looks like the state that output '{output}' gives back: --state {output}={spec.name} begins at zeros and feeds it"
            if output
            else "; store one value for each input"
        )
        raise BadGolden(text + hint)


def _type_of(name: str, spec: TensorSpec) -> str:
    """What the tensor of that name is declared as; "" where any type will do."""
    dtype = declared_types([spec], [name]).get(name, "")
    return "" if dtype in CONTAINERS or dtype == "undefined" else dtype


def _typed(raw: Raw, value: Any, dtype: str, called: str) -> Tensor:
    """In the declared type, where no value changes by it. Raises BadGolden."""
    stated = isinstance(value, np.ndarray | np.generic)
    try:
        array: Tensor = np.asarray(value)
    except ValueError as error:
        raise BadGolden(f"{raw.where}: '{called}' makes no array ({error}); give rows of one length") from None
    name = dtype_name(array.dtype)
    if not dtype or name == dtype:
        return array
    if dtype == "string" or name == "string":
        if array.dtype.kind in "US" and dtype == "string":
            return array.astype(object)
        raise BadGolden(f"{raw.where}: '{called}' is {name}, the model takes {dtype}; give {dtype}")
    with np.errstate(all="ignore"):
        cast = array.astype(numpy_dtype(dtype))
        kept = _same(array, cast)
    if kept or (not stated and array.dtype.kind == "f" and cast.dtype.kind not in "biu"):
        return cast
    raise BadGolden(
        f"{raw.where}: '{called}' is {name} and would lose digits as {dtype}, which the model takes; cast it yourself if that is "
        f"meant: array.astype('{dtype}')"
    )


def _same(array: Tensor, cast: Tensor) -> bool:
    if array.dtype.kind == "c" or cast.dtype.kind == "c":
        return bool(np.array_equal(array, cast, equal_nan=True))
    back = cast.astype(array.dtype)
    equal = back == array
    return bool(np.all(equal | ((array != array) & (back != back)))) if array.size else True


def _calls_in(raw: Raw, array: Tensor, spec: TensorSpec) -> int:
    """0: one call as it is; n: n calls behind one another on axis 0, or, where axis 0 is a fixed batch, n of them side by side."""
    if spec.dtype in CONTAINERS or spec.shape == ("...",) or _fits(array.shape, spec.shape):
        return 0
    if raw.splits and array.ndim == len(spec.shape) + 1 and _fits(array.shape[1:], spec.shape):
        return int(array.shape[0])
    first = spec.shape[0] if spec.shape else None
    aside = array.ndim == len(spec.shape) and _fits(array.shape[1:], spec.shape[1:])
    if raw.splits and isinstance(first, int) and first and aside and array.shape[0] % first == 0 and array.shape[0]:
        return int(array.shape[0]) // first
    raise BadGolden(f"{raw.where}: '{spec.name}' {_misfit(array.shape, spec)}")


def _misfit(shape: Sequence[int], spec: TensorSpec) -> str:
    """The axis that does not fit, and what would."""
    declared = f"the model declares {_text(spec.shape)}"
    if len(shape) != len(spec.shape):
        batch = len(shape) + 1 == len(spec.shape) and _fits(shape, spec.shape[1:])
        hint = "add the batch axis: array[None]" if batch else f"give {len(spec.shape)} axes"
        return f"has shape {_text(shape)} of {len(shape)} axes, and {declared}; {hint}"
    axis = next(
        at
        for at, (size, wanted) in enumerate(zip(shape, spec.shape, strict=True))
        if isinstance(wanted, int) and size != wanted
    )
    return f"has shape {_text(shape)}, and {declared}; axis {axis} is {shape[axis]} and must be {spec.shape[axis]}"


def _fits(shape: Sequence[int], declared: Sequence[int | str]) -> bool:
    return len(shape) == len(declared) and all(
        isinstance(wanted, str) or size == wanted for size, wanted in zip(shape, declared, strict=True)
    )


def _count(raw: Raw, stacks: Mapping[str, int]) -> int:
    """What is stored once goes into every call. Raises BadGolden where stacks differ, or are empty."""
    counts = {name: count for name, count in stacks.items() if count}
    if len(set(counts.values())) > 1:
        text = ", ".join(f"'{name}' {count}" for name, count in counts.items())
        raise BadGolden(
            f"{raw.where}: inputs hold different numbers of samples ({text}); stack as many of each on axis 0"
        )
    return next(iter(counts.values()), 1)


def _call(array: Tensor, spec: TensorSpec, count: int, number: int) -> Tensor:
    if not count:
        return array
    if array.ndim == len(spec.shape) + 1:
        return array[number, ...]
    size = array.shape[0] // count
    return array[number * size : (number + 1) * size]


def _text(shape: Sequence[int | str]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
