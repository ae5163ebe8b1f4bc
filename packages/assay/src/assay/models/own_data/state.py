"""Outputs that are fed back into inputs: recurrent and streaming models, whose calls are a sequence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.core.dtype import dtype_name, is_floating, numpy_dtype
from assay.core.golden import GoldenLock
from assay.core.model import Model, TensorSpec
from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.core.refusals.name_codes import name_hint
from assay.errors import BadGolden, UsageError
from assay.ports import Tensor

_WORDS = frozenset(
    {
        "in",
        "out",
        "input",
        "output",
        "new",
        "next",
        "n",
        "prev",
        "previous",
        "past",
        "present",
        "cur",
        "current",
        "old",
        "last",
    }
    | {"updated", "init", "initial", "0", "1", "t"}
)
"""What tells the state before a call from the state after it, and nothing else."""


def proposed(model: Model) -> dict[str, str]:
    """Outputs that plausibly are the state of the next call: of the type and shape of one input, with a name that differs
    from its name by such a word only (`stateN` and `state`, `present.0.key` and `past.0.key`, `hn` and `h0`)."""
    state: dict[str, str] = {}
    for output in model.outputs:
        stem = _stem(output.name)
        matching = [
            tensor_spec
            for tensor_spec in model.inputs
            if stem and _stem(tensor_spec.name) == stem and _alike(tensor_spec, output)
        ]
        if len(matching) == 1 and matching[0].name not in state.values():
            state[output.name] = matching[0].name
    return state


def _stem(name: str) -> tuple[str, ...]:
    """Its words in lower case, without those that say before or after; numbers inside are kept (`present.0.key`)."""
    apart = re.sub(r"([a-z])([A-Z0-9])", r"\1 \2", name)
    words = re.findall(r"[a-z]+|\d+", re.sub(r"^(past|present)_key_values", r"\1", apart.lower()))
    inner = words[1:-1]
    kept = [
        word for place, word in enumerate(words) if word not in _WORDS or (word.isdigit() and 0 < place <= len(inner))
    ]
    return tuple(word[:-1] if len(word) == 2 and word.endswith("n") else word for word in kept)


def _alike(spec: TensorSpec, other: TensorSpec) -> bool:
    pairs = zip(spec.shape, other.shape, strict=False)
    return (
        spec.dtype == other.dtype
        and len(spec.shape) == len(other.shape)
        and all(a == b for a, b in pairs if isinstance(a, int) and isinstance(b, int))
    )


def check_state(state: Mapping[str, str], model: Model) -> None:
    """Raises UsageError for a name that the model lacks, a pair that cannot go together, and an input that is fed twice."""
    outputs, inputs = ({spec.name: spec for spec in specs} for specs in (model.outputs, model.inputs))
    for output, name in state.items():
        for role, tensor_name, known in (("output", output, outputs), ("input", name, inputs)):
            if tensor_name not in known:
                raise UsageError(
                    noted(
                        DataCode.STATE_NAME,
                        output=output,
                        input=name,
                        model=model.name,
                        role=role,
                        name=tensor_name,
                        hint=name_hint(tensor_name, known),
                    )
                )
        if not _alike(inputs[name], outputs[output]):
            raise UsageError(
                noted(
                    DataCode.STATE_UNLIKE,
                    output=output,
                    input=name,
                    gives=outputs[output].dtype,
                    given=outputs[output].shape,
                    takes=inputs[name].dtype,
                    taken=inputs[name].shape,
                )
            )
    if len(set(state.values())) < len(state):
        raise UsageError(noted(DataCode.STATE_TWICE, inputs=tuple(state.values())))


def first_state(name: str, model: Model, call: Mapping[str, Tensor]) -> Tensor:
    """Zeros, in the shape that the model declares: a symbol is the size that it has in what the call brings, and a dimension
    without a name the length of the first axis of what the call brings first. Raises BadGolden where neither is known."""
    specs = {spec.name: spec for spec in model.inputs}
    sizes: dict[str, int] = {}
    for other, array in call.items():
        if other in specs and len(specs[other].shape) == array.ndim:
            sizes |= {
                symbol: size
                for symbol, size in zip(specs[other].shape, array.shape, strict=True)
                if isinstance(symbol, str) and symbol != "?"
            }
    batch = next((array.shape[0] for array in call.values() if array.ndim), None)
    shape = []
    for size in specs[name].shape:
        known: Any = size if isinstance(size, int) else sizes.get(size, batch)
        if known is None or size == "...":
            raise BadGolden(noted(DataCode.STATE_SIZE, input=name, shape=specs[name].shape))
        shape.append(known)
    return np.zeros(shape, numpy_dtype(specs[name].dtype))


def as_input(array: Tensor, name: str, model: Model) -> Tensor:
    """What an output becomes when it is fed: rounded to the input's type, where an oracle answered in double."""
    dtype = next(spec.dtype for spec in model.inputs if spec.name == name)
    if dtype_name(array.dtype) != dtype and is_floating(dtype):
        with np.errstate(over="ignore"):
            return array.astype(numpy_dtype(dtype))
    return array


def without_fed(inputs: list[dict[str, Tensor]], lock: GoldenLock) -> list[dict[str, Tensor]]:
    """Without the states that another flow gave: but for the first of each sequence."""
    firsts = {sum(lock.sequences[:number]) for number in range(len(lock.sequences))}
    fed = set(lock.state.values())
    return [
        sample if number in firsts else {name: array for name, array in sample.items() if name not in fed}
        for number, sample in enumerate(inputs)
    ]
