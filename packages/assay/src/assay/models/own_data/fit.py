"""Values that were found, fitted to the tensors that a model declares: by name, by type without loss, by shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.dtype import CONTAINERS, dtype_name, numpy_dtype
from assay.core.model import Model, TensorSpec
from assay.core.note import Note, noted
from assay.core.refusals.data_codes import DataCode
from assay.core.refusals.name_codes import name_hint
from assay.core.tensor_parts import whole_name
from assay.errors import BadGolden
from assay.models.flatten import NoValue, declared_types, flatten
from assay.models.own_data.labels import is_label
from assay.models.own_data.raw import SINGLE, Raw
from assay.ports import Tensor

Values = dict[str, Tensor]


def calls_of(raw: Raw, model: Model, state: Mapping[str, str]) -> Iterator[tuple[Values, Values]]:
    """Inputs and expected outputs of each call that `raw` holds. State inputs may be left out. Raises BadGolden."""
    inputs, expected = _by_role(raw, model, state)
    arrays, answers = (
        {name: _typed(raw, value, _type_of(name, spec), spec.name) for name, (value, spec) in named.items()}
        for named in (inputs, expected)
    )
    specs = {name: spec for name, (_, spec) in (inputs | expected).items()}
    _demand_all(raw, [*inputs, *map(whole_name, inputs)], model, state)
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
    read_inputs: dict[str, tuple[Any, TensorSpec]] = {}
    expected: dict[str, tuple[Any, TensorSpec]] = {}
    for name, value in raw.values.items():
        if is_label(name, model):
            continue
        if name == SINGLE:
            read_inputs |= _flat(raw, _only(raw, model, state), value)
        elif name in inputs or _container(name, inputs):
            read_inputs |= _flat(raw, inputs.get(name) or inputs[whole_name(name)], value, name)
        elif name in outputs or _container(name, outputs):
            expected |= _flat(raw, outputs.get(name) or outputs[whole_name(name)], value, name)
        else:
            hint = name_hint(name, [*inputs, *outputs])
            raise BadGolden(
                noted(DataCode.NEITHER_TAKEN_NOR_GIVEN, where=raw.where, name=name, model=model.name, hint=hint)
            )
    for name, value in raw.expected.items():
        if is_label(name, model):
            continue
        if name not in outputs and not _container(name, outputs):
            hint = name_hint(name, outputs)
            raise BadGolden(noted(DataCode.NOT_GIVEN, where=raw.where, name=name, model=model.name, hint=hint))
        expected |= _flat(raw, outputs.get(name) or outputs[whole_name(name)], value, name)
    return read_inputs, expected


def _container(name: str, specs: Mapping[str, TensorSpec]) -> bool:
    """Whether it is a part of a sequence, an optional or a map, by our own names."""
    whole = whole_name(name)
    return whole != name and whole in specs and specs[whole].dtype in CONTAINERS


def _flat(raw: Raw, spec: TensorSpec, value: Any, name: str = "") -> dict[str, tuple[Any, TensorSpec]]:
    if spec.dtype not in CONTAINERS or (name and name != spec.name):
        return {name or spec.name: (value, spec)}
    try:
        return {part: (array, spec) for part, array in flatten(spec.name, value).items()}
    except NoValue as error:
        raise BadGolden(
            noted(
                DataCode.NO_SUCH_CONTAINER,
                where=raw.where,
                name=spec.name,
                dtype=spec.dtype,
                error=error.reason,
            )
        ) from None


def _only(raw: Raw, model: Model, state: Mapping[str, str]) -> TensorSpec:
    """The input that an array without a name is meant for: the only one that is no state."""
    fed = [spec for spec in model.inputs if spec.name not in state.values()]
    if len(fed) != 1:
        names = tuple(spec.name for spec in fed)
        raise BadGolden(
            noted(
                DataCode.ARRAY_WITHOUT_NAME,
                where=raw.where,
                model=model.name,
                count=len(fed),
                names=names,
            )
        )
    return fed[0]


def _demand_all(raw: Raw, names: Sequence[str], model: Model, state: Mapping[str, str]) -> None:
    for spec in model.inputs:
        if spec.name in names or spec.name in state.values():
            continue
        from assay.models.own_data.state import proposed

        output = next((output_name for output_name, other in proposed(model).items() if other == spec.name), "")
        if output:
            raise BadGolden(
                noted(
                    DataCode.STATE_LACKING,
                    where=raw.where,
                    input=spec.name,
                    dtype=spec.dtype,
                    shape=spec.shape,
                    model=model.name,
                    output=output,
                )
            )
        raise BadGolden(
            noted(
                DataCode.INPUT_LACKING,
                where=raw.where,
                input=spec.name,
                dtype=spec.dtype,
                shape=spec.shape,
                model=model.name,
            )
        )


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
        raise BadGolden(noted(DataCode.NO_ARRAY, where=raw.where, name=called, error=str(error))) from None
    name = dtype_name(array.dtype)
    if not dtype or name == dtype:
        return array
    if dtype == "string" or name == "string":
        if array.dtype.kind in "US" and dtype == "string":
            return array.astype(object)
        raise BadGolden(noted(DataCode.OTHER_TYPE, where=raw.where, name=called, dtype=name, wanted=dtype))
    with np.errstate(all="ignore"):
        cast = array.astype(numpy_dtype(dtype))
        kept = _same(array, cast)
    if kept or (not stated and array.dtype.kind == "f" and cast.dtype.kind not in "biu"):
        return cast
    raise BadGolden(noted(DataCode.DIGITS_LOST, where=raw.where, name=called, dtype=name, wanted=dtype))


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
    raise BadGolden(_misfit(raw, array.shape, spec))


def _misfit(raw: Raw, shape: tuple[int, ...], spec: TensorSpec) -> Note:
    """The axis that does not fit, and what would."""
    if len(shape) + 1 == len(spec.shape) and _fits(shape, spec.shape[1:]):
        return noted(
            DataCode.NO_BATCH_AXIS, where=raw.where, name=spec.name, shape=shape, declared=spec.shape, axes=len(shape)
        )
    if len(shape) != len(spec.shape):
        return noted(
            DataCode.AXIS_COUNT,
            where=raw.where,
            name=spec.name,
            shape=shape,
            declared=spec.shape,
            axes=len(shape),
            wanted=len(spec.shape),
        )
    axis = next(
        at for at, (size, due) in enumerate(zip(shape, spec.shape, strict=True)) if isinstance(due, int) and size != due
    )
    return noted(
        DataCode.AXIS_SIZE,
        where=raw.where,
        name=spec.name,
        shape=shape,
        declared=spec.shape,
        axis=axis,
        size=shape[axis],
        wanted=spec.shape[axis],
    )


def _fits(shape: Sequence[int], declared: Sequence[int | str]) -> bool:
    return len(shape) == len(declared) and all(
        isinstance(due, str) or size == due for size, due in zip(shape, declared, strict=True)
    )


def _count(raw: Raw, stacks: Mapping[str, int]) -> int:
    """What is stored once goes into every call. Raises BadGolden where stacks differ, or are empty."""
    counts = {name: count for name, count in stacks.items() if count}
    first, samples = next(iter(counts.items()), ("", 1))
    for other, others in counts.items():
        if others != samples:
            raise BadGolden(
                noted(
                    DataCode.SAMPLES_OF_INPUTS,
                    where=raw.where,
                    input=first,
                    samples=samples,
                    other=other,
                    others=others,
                )
            )
    return samples


def _call(array: Tensor, spec: TensorSpec, count: int, number: int) -> Tensor:
    if not count:
        return array
    if array.ndim == len(spec.shape) + 1:
        return array[number, ...]
    size = array.shape[0] // count
    return array[number * size : (number + 1) * size]
