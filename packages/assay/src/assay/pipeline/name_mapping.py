"""Which input and output of a model is which of another: by option, by name, or refused with the options that would fit."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.core.dtype import CONTAINERS, is_floating
from assay.core.model import Model, TensorSpec
from assay.core.note import Note, NoteCode, noted
from assay.errors import UsageError

ANY = ("...",)
"""The shape of a tensor whose rank is not known."""


@dataclass(frozen=True)
class Names:
    """Names of the new model by those of the original: `pairs` maps new to original; `without` are outputs that only the
    original has."""

    inputs: dict[str, str]
    outputs: dict[str, str]
    without: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def map_names(new: Model, old: Model, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> Names:
    """`inputs` and `outputs` are what the user says, new name to original name. Raises UsageError where an input has no
    counterpart, where types or shapes exclude each other, and where outputs may have been renamed."""
    fed, spare_inputs = _pairs("input", new.inputs, old.inputs, inputs)
    left = [tensor_spec for tensor_spec in new.inputs if tensor_spec.name not in fed]
    if left:
        proposed = _proposed("input", left, spare_inputs)
        names = ", ".join(tensor_spec.name for tensor_spec in old.inputs)
        raise UsageError(
            f"input {left[0].name!r} of {new.source} is not one of those of the reference ({names or 'none'}); {proposed}"
        )
    for tensor_spec in new.inputs:
        _check_fits(tensor_spec, next(spec for spec in old.inputs if spec.name == fed[tensor_spec.name]))
    given, spare_outputs = _pairs("output", new.outputs, old.outputs, outputs)
    added = [output for output in new.outputs if output.name not in given]
    if spare_outputs and added:
        proposed = _proposed("output", added, spare_outputs)
        raise UsageError(
            f"output {spare_outputs[0].name!r} of the reference is not one of those of {new.source} "
            f"({', '.join(output.name for output in new.outputs)}); {proposed}"
        )
    if not given:
        raise UsageError(f"{new.source} has none of the outputs of the reference: map them with --map-output NEW=OLD")
    notes = [
        *(noted(NoteCode.INPUT_NOT_FED, input=tensor_spec.name) for tensor_spec in spare_inputs),
        *_casts(new, old, fed),
        *(noted(NoteCode.OUTPUT_NOT_COMPARED, output=tensor_spec.name) for tensor_spec in added),
    ]
    return Names(fed, given, tuple(output.name for output in spare_outputs), tuple(notes))


def _pairs(
    role: str, new: Sequence[TensorSpec], old: Sequence[TensorSpec], stated: Mapping[str, str]
) -> tuple[dict[str, str], list[TensorSpec]]:
    """Pairs by option, then by name; and what is left of the original."""
    for mine, theirs in stated.items():
        _check_known(role, mine, new, "the new model")
        _check_known(role, theirs, old, "the reference")
    twice = [name for name in stated.values() if list(stated.values()).count(name) > 1]
    if twice:
        raise UsageError(f"--map-{role} gives the {role} {twice[0]!r} of the reference twice: map each one once")
    free = {tensor_spec.name for tensor_spec in old} - set(stated.values())
    same = {tensor_spec.name: tensor_spec.name for tensor_spec in new if tensor_spec.name in free}
    pairs = {
        tensor_spec.name: {**same, **stated}[tensor_spec.name]
        for tensor_spec in new
        if tensor_spec.name in same or tensor_spec.name in stated
    }
    return pairs, [tensor_spec for tensor_spec in old if tensor_spec.name not in pairs.values()]


def _check_known(role: str, name: str, specs: Sequence[TensorSpec], whose: str) -> None:
    names = [spec.name for spec in specs]
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"perhaps you mean {near[0]!r}" if near else f"it has {', '.join(names) or 'none'}"
        raise UsageError(f"--map-{role}: {whose} has no {role} {name!r}; {hint}")


def _proposed(role: str, new: Sequence[TensorSpec], old: Sequence[TensorSpec]) -> str:
    """The options that pair, in their order, what has fitting types and shapes."""
    free, options = list(old), []
    for tensor_spec in new:
        partner = next(
            (spec for spec in free if kind(spec.dtype) == kind(tensor_spec.dtype) and may_be(tensor_spec, spec)), None
        )
        if partner is not None:
            free.remove(partner)
            options.append(f"--map-{role} {tensor_spec.name}={partner.name}")
    if not options:
        return f"nothing left of the reference has such a type and shape; if it is one of its {role}s, give --map-{role} NEW=OLD"
    return f"types and shapes would fit in this order: {' '.join(options)}"


def may_be(tensor_spec: TensorSpec, other: TensorSpec) -> bool:
    """Whether both shapes can be of one tensor: a symbol stands for any number."""
    if ANY in (tensor_spec.shape, other.shape):
        return True
    return len(tensor_spec.shape) == len(other.shape) and all(
        isinstance(mine, str) or isinstance(theirs, str) or mine == theirs
        for mine, theirs in zip(tensor_spec.shape, other.shape, strict=True)
    )


def kind(dtype: str) -> str:
    """Types that are converted into one another share a kind."""
    if dtype in CONTAINERS or dtype in ("string", "bool"):
        return dtype
    if is_floating(dtype):
        return "floating"
    return "integer" if dtype.removeprefix("u").startswith("int") else dtype


def _check_fits(new: TensorSpec, old: TensorSpec) -> None:
    if kind(new.dtype) != kind(old.dtype):
        raise UsageError(
            f"input {new.name!r} takes {new.dtype}, and {old.name!r} of the reference takes {old.dtype}: such values are "
            "not converted; map another input to it with --map-input, or feed both models alike"
        )
    if not may_be(new, old):
        raise UsageError(
            f"input {new.name!r} has shape {_text(new)}, and {old.name!r} of the reference has {_text(old)}: "
            "no input fits both; map another input to it with --map-input"
        )


def _text(spec: TensorSpec) -> str:
    return "[" + ", ".join(map(str, spec.shape)) + "]"


def _casts(new: Model, old: Model, pairs: Mapping[str, str]) -> list[Note]:
    types = {tensor_spec.name: tensor_spec.dtype for tensor_spec in old.inputs}
    return [
        noted(
            NoteCode.INPUT_CONVERTED,
            input=tensor_spec.name,
            given=types[pairs[tensor_spec.name]],
            taken=tensor_spec.dtype,
        )
        for tensor_spec in new.inputs
        if types[pairs[tensor_spec.name]] != tensor_spec.dtype
    ]
