"""A graph with its values, as files in a folder: every value in float64, and the type in which an engine would have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from assay.core.dtype import dtype_name, is_floating, numpy_dtype
from assay.core.note import NoteCode, noted
from assay.core.region import GraphNode, RegionGraph
from assay.errors import Unsupported
from assay.models.expose_intermediates import reads_of
from assay.numerics.load_onnx import load_onnx
from assay.numerics.oracle.decompose import expanded
from assay.numerics.tolerance.simulate.double_evaluation import as_type, wide_evaluator
from assay.ports import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

MODEL = "model.onnx"
_INDEX = "values.json"
MOST_NUMBERS = 16
"""Of an attribute that is told."""
_INSIDE = 2**30
"""Bytes up to which weights are kept inside of the file; protobuf ends at 2 GiB."""


class _Stored(msgspec.Struct):
    """One value: its file, and the type that the graph declares."""

    name: str
    file: str
    dtype: str


class GraphValues(Mapping[str, Tensor]):
    """The model of a folder and its values. Each is read when it is asked for, in its declared type."""

    def __init__(self, folder: Path) -> None:

        self._folder = folder
        self.model: ModelProto = load_onnx(str(folder / MODEL))
        stored = msgspec.json.decode((folder / _INDEX).read_bytes(), type=list[_Stored])
        self._stored = {entry.name: entry for entry in stored}

    @cached_property
    def nodes(self) -> Sequence[NodeProto]:
        """Of the main graph, by their place."""
        return tuple(self.model.graph.node)

    @cached_property
    def readers(self) -> Mapping[str, frozenset[int]]:
        """The places of the nodes that read a value."""
        readers_by_name: dict[str, set[int]] = {}
        for place, node in enumerate(self.nodes):
            for name in reads_of(node):
                readers_by_name.setdefault(name, set()).add(place)
        return {name: frozenset(places) for name, places in readers_by_name.items()}

    def wide(self, name: str) -> Tensor:
        """In float64, or as whole numbers. Raises KeyError. Read whole: a mapped file is an open descriptor, and a process in which
        one is left open gets no other job."""
        array: Tensor = np.load(self._folder / self._stored[name].file, allow_pickle=False)
        return array

    def __getitem__(self, name: str) -> Tensor:
        with np.errstate(over="ignore"):
            return np.asarray(self.wide(name)).astype(numpy_dtype(self._stored[name].dtype))

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


@lru_cache(maxsize=2)
def open_values(folder: Path) -> GraphValues:
    """The folder is not written again once it is there."""
    return GraphValues(folder)


def save_values(folder: Path, model: ModelProto, values: Mapping[str, Tensor], dtypes: Mapping[str, str]) -> None:
    """`values` in float64 or whole numbers; `dtypes` those of the graph, where they differ."""
    folder.mkdir(parents=True, exist_ok=True)
    save_model(model, folder / MODEL)
    stored = []
    for place, (name, array) in enumerate(values.items()):
        file = f"{place}.npy"
        np.save(folder / file, array, allow_pickle=False)
        stored.append(_Stored(name, file, dtypes.get(name) or dtype_name(array.dtype)))
    (folder / _INDEX).write_bytes(msgspec.json.encode(stored))


def save_model(model: ModelProto, path: Path) -> Path:
    """In one file, with its weights beside it where it would be too large."""
    import onnx

    large = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > _INSIDE
    location = f"{path.name}.data" if large else None
    onnx.save(model, str(path), save_as_external_data=large, location=location)
    return path


def evaluate(
    model: ModelProto, sample: Mapping[str, Tensor], names: Iterable[str], *, otherwise: bool = False
) -> dict[str, Tensor]:
    """Those of the `names` values that are tensors of numbers, in float64; `otherwise`: by the other reading of what the standard leaves
    open. Raises Lowering where the model cannot be evaluated."""
    wide = expanded(model)
    there = {name for node in wide.graph.node for name in node.output}
    outputs = [value.name for value in model.graph.output]
    taps = [name for name in dict.fromkeys(names) if name in there and name not in outputs]
    with np.errstate(all="ignore"):
        values = wide_evaluator(wide, {}, otherwise=otherwise).evaluate(as_type(sample, np.float64), taps)
    pairs = zip((*outputs, *taps), values, strict=True)
    return {name: _plain(value) for name, value in pairs if _is_tensor(value)}


def _is_tensor(value: object) -> bool:
    return (isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiub") or _is_small(value)


def _is_small(value: object) -> bool:
    """Types of ml_dtypes: numbers whose kind numpy does not know."""
    return isinstance(value, np.ndarray) and is_floating(dtype_name(value.dtype))


def _plain(value: Tensor) -> Tensor:
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        return array
    return array.astype(np.float64)


def declared_dtypes(model: ModelProto) -> dict[str, str]:
    """The element type of every value of the main graph, as far as it can be inferred."""
    import onnx
    from onnx import helper

    shaped = onnx.shape_inference.infer_shapes(model)
    infos = (*shaped.graph.value_info, *shaped.graph.input, *shaped.graph.output)
    dtypes = {}
    for value in infos:
        element = value.type.tensor_type.elem_type
        if element and element != onnx.TensorProto.STRING:
            dtypes[value.name] = dtype_name(np.dtype(helper.tensor_dtype_to_np_dtype(element)))
    return dtypes


def graph_of(model: ModelProto, known: Mapping[str, Tensor], dtypes: Mapping[str, str]) -> RegionGraph:
    """What the driver is told of it. `known` are the values that were evaluated, `dtypes` the types that the graph declares."""
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    types = {name: _typed(dtypes.get(name, ""), array.shape) for name, array in known.items()}
    types |= {name: _typed(_dtype_of(weight), tuple(weight.dims)) for name, weight in weights.items()}
    return RegionGraph(
        tuple(
            GraphNode(
                node.name,
                node.op_type,
                tuple(dict.fromkeys(name for name in reads_of(node) if name)),
                tuple(name for name in node.output if name),
                _plain_attributes(node),
                tuple(types.get(name, "") for name in dict.fromkeys((*reads_of(node), *node.output)) if name),
            )
            for node in model.graph.node
        ),
        tuple(value.name for value in model.graph.input if value.name not in weights),
        tuple(value.name for value in model.graph.output),
        tuple(known),
        next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0),
    )


def _dtype_of(tensor: TensorProto) -> str:
    from onnx import TensorProto, helper

    if tensor.data_type in (TensorProto.UNDEFINED, TensorProto.STRING):
        return ""
    return dtype_name(np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type)))


def _typed(dtype: str, shape: tuple[int, ...]) -> str:
    """A type beside what decides which code an engine takes: whether there is one number, or none."""
    return f"{dtype} {'' if shape and all(shape) else 'empty' if shape else 'scalar'}".strip() if dtype else ""


def _plain_attributes(node: NodeProto) -> dict[str, str]:
    """Numbers, texts and short lists of whole numbers or texts, as text."""
    attributes = {}
    for attribute in node.attribute:
        if attribute.type == attribute.STRING:
            attributes[attribute.name] = attribute.s.decode(errors="replace")
        elif attribute.type in (attribute.INT, attribute.FLOAT):
            attributes[attribute.name] = f"{attribute.i if attribute.type == attribute.INT else attribute.f:g}"
        elif attribute.type == attribute.INTS and len(attribute.ints) <= MOST_NUMBERS:
            attributes[attribute.name] = ",".join(map(str, attribute.ints))
        elif attribute.type == attribute.STRINGS and len(attribute.strings) <= MOST_NUMBERS:
            attributes[attribute.name] = ",".join(text.decode(errors="replace") for text in attribute.strings)
    return attributes


def require_plain(model: ModelProto) -> None:
    """Raises Unsupported for what cannot be cut into parts."""
    if model.graph.sparse_initializer:
        raise Unsupported(noted(NoteCode.SPARSE_NOT_CUT), cause="other")
