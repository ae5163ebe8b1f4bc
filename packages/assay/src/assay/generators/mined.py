"""Subgraphs of real models: their nodes, what these read, and the constants, to be built again and changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import helper, numpy_helper

from assay.core.dtype import dtype_name
from assay.generators.known_sizes import with_known_sizes
from assay.generators.schemas import GENERATED, NotMade, schema_at
from assay.numerics.dense_weights import densify

MOST_NODES, LEAST_NODES = 12, 2
MOST_NUMBERS = 64
"""Of a constant that is kept with its numbers; a larger one becomes an input of its shape."""
WHOLE_NODES, WHOLE_NUMBERS = 400, 200_000
"""Of a model that is kept as a whole, and of all its constants together: a case of it takes less than a second."""


class MinedValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """What no node of the pattern gives: a type and a shape; `numbers` where it is a constant."""

    dtype: str
    shape: tuple[int, ...]
    numbers: tuple[float, ...] | None = None


class MinedNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """`reads` are places: first those of `Pattern.values`, then the outputs of nodes in their order; -1 is an input left out."""

    operator: str
    reads: tuple[int, ...]
    outputs: int = 1
    attributes: Mapping[str, Any] = {}


class MinedPattern(msgspec.Struct, frozen=True, omit_defaults=True):
    """One subgraph. `opset` is that of the model it comes from."""

    opset: int
    values: tuple[MinedValue, ...]
    nodes: tuple[MinedNode, ...]
    whole: bool = False
    """All nodes of a model, and not a part of one."""


def decode(text: bytes) -> tuple[MinedPattern, ...]:
    """Of a file that `encode` wrote."""
    return msgspec.json.decode(text, type=tuple[MinedPattern, ...])


def encode(patterns: Sequence[MinedPattern]) -> bytes:
    """One pattern a line."""
    return b"[\n" + b",\n".join(msgspec.json.encode(pattern) for pattern in patterns) + b"\n]\n"


@cache
def own_patterns() -> tuple[MinedPattern, ...]:
    """Those that come with Assay: the bodies of ONNX's functions, as fusions look for them (`benchmarks/fuzz_patterns.py`)."""
    return decode(resources.files("assay.generators").joinpath("data/patterns.json").read_bytes())


@dataclass(frozen=True)
class Mine:
    """A model at the sizes that it takes: its nodes, constants, and what else is known of a type and a shape."""

    opset: int
    nodes: Sequence[Any]
    stored: Mapping[str, Any]
    known: Mapping[str, tuple[str, tuple[int, ...]]]
    has_functions: bool

    @staticmethod
    def of(model: Any) -> Mine:
        graph = with_known_sizes(model)
        opset = next((entry.version for entry in model.opset_import if entry.domain == ""), 0)
        nodes = [node for node in graph.node if node.op_type != "Constant"]
        return Mine(opset, nodes, _stored(graph), _known(graph), bool(model.functions))

    def parts(self, length: int = MOST_NODES) -> Iterator[MinedPattern]:
        """Each window of neighbours: a node and what leads to it, of at most `length` nodes. What has no fixed shape is left out."""
        producer = {name: node for node in self.nodes for name in node.output}
        for last in self.nodes:
            window = _window(last, producer, length)
            if len(window) >= LEAST_NODES and (
                pattern := _pattern(
                    [node for node in self.nodes if node in window], self.stored, self.known, self.opset
                )
            ):
                yield pattern

    def whole(self) -> MinedPattern | None:
        """All of a small model, with its weights. None of a large one, and of one with forms that are not known."""
        numbers = sum(array.size for array in self.stored.values())
        if not LEAST_NODES <= len(self.nodes) <= WHOLE_NODES or numbers > WHOLE_NUMBERS or self.has_functions:
            return None
        pattern = _pattern(self.nodes, self.stored, self.known, self.opset, most=WHOLE_NUMBERS)
        return None if pattern is None else msgspec.structs.replace(pattern, whole=True)


def mine(model: Any, length: int = MOST_NODES) -> Iterator[MinedPattern]:
    """See `Mine.parts`."""
    return Mine.of(model).parts(length)


def _stored(graph: Any) -> dict[str, Any]:
    beside = onnx.TensorProto.EXTERNAL  # is not read: such a weight is an input of its window
    stored = {
        tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer if tensor.data_location != beside
    }
    for node in graph.node:
        if node.op_type == "Constant" and (held := _constant(node)) is not None:
            stored[node.output[0]] = held
    return stored


def _known(graph: Any) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {value.name: typed for value in (*graph.input, *graph.value_info, *graph.output) if (typed := _typed(value))}


def _window(last: Any, producer: Mapping[str, Any], length: int) -> list[Any]:
    window, at = [last], 0
    while at < len(window) and len(window) < length:
        for name in window[at].input:
            before = producer.get(name)
            if before is not None and before not in window and len(window) < length:
                window.append(before)
        at += 1
    return window


def _pattern(
    nodes: Sequence[Any],
    stored: Mapping[str, Any],
    known: Mapping[str, tuple[str, tuple[int, ...]]],
    opset: int,
    most: int = MOST_NUMBERS,
) -> MinedPattern | None:
    made = {name for node in nodes for name in node.output if name}
    outside = dict.fromkeys(name for node in nodes for name in node.input if name and name not in made)
    values = []
    for name in outside:
        if name in stored:
            values.append(_kept(stored[name], most))
        elif name in known:
            values.append(MinedValue(*known[name]))
        else:
            return None
    if any(mined_value.dtype not in GENERATED for mined_value in values):
        return None
    places = {name: place for place, name in enumerate((*outside, *(name for node in nodes for name in node.output)))}
    mined_nodes = []
    for node in nodes:
        attributes = {attribute.name: _plain(helper.get_attribute_value(attribute)) for attribute in node.attribute}
        if node.domain or any(value is None for value in attributes.values()) or not _is_known(node.op_type, opset):
            return None
        reads = tuple(places[name] if name else -1 for name in node.input)
        mined_nodes.append(MinedNode(node.op_type, reads, len(node.output), attributes))
    return MinedPattern(opset, tuple(values), tuple(mined_nodes))


def _is_known(operator: str, opset: int) -> bool:
    try:
        schema_at(operator, opset)
    except NotMade:
        return False
    return True


def _kept(array: Any, most: int) -> MinedValue:
    array = np.asarray(array)
    numbers = (
        tuple(float(number) for number in array.reshape(-1))
        if 0 < array.size <= most or array.dtype.kind in "iu"
        else None
    )
    finite = numbers is not None and array.size <= 4 * most and bool(np.isfinite(array.astype(np.float64)).all())
    return MinedValue(dtype_name(array.dtype), array.shape, numbers if finite else None)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, int | float):
        return value
    if isinstance(value, list | tuple) and all(isinstance(number, int | float) for number in value):
        return list(value)
    return None


def _constant(node: Any) -> Any:
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        if attribute.name == "value":
            return numpy_helper.to_array(value)
        if attribute.name in ("value_float", "value_floats"):
            return np.asarray(value, np.float32)
        if attribute.name in ("value_int", "value_ints"):
            return np.asarray(value, np.int64)
    return None


def _typed(value_info: Any) -> tuple[str, tuple[int, ...]] | None:
    tensor = value_info.type.tensor_type
    if not tensor.elem_type or not tensor.HasField("shape"):
        return None
    if any(not axis.HasField("dim_value") for axis in tensor.shape.dim):
        return None
    dtype = dtype_name(np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type)))
    return dtype, tuple(axis.dim_value for axis in tensor.shape.dim)


def mine_folder(folder: Path) -> tuple[MinedPattern, ...]:
    """Of every ONNX file below it, each pattern once, in an order that the files decide."""
    patterns: dict[str, MinedPattern] = {}
    for path in sorted(folder.rglob("*.onnx")):
        try:
            model = onnx.load(str(path), load_external_data=False)
            densify(model, str(path.parent))
            opened = Mine.of(model)
            mined, whole = [*opened.parts(6)], opened.whole()
        except Exception:  # noqa: BLE001  no model, and the folder may hold anything
            continue
        for mined_pattern in mined:
            patterns.setdefault(
                json.dumps([(node.operator, node.reads) for node in mined_pattern.nodes]), mined_pattern
            )
        patterns |= {f"whole {len(patterns)}": whole} if whole else {}
    return tuple(patterns.values())
