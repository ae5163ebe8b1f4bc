"""The types in which a model itself computes and stores weights: what is coarse there was not made so by a compiler."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from assay.core.compute_types import unsigned
from assay.core.dtype import dtype_name
from assay.models.conversion import format_of
from assay.models.program import open_program
from assay.models.sources import is_factory

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

_MULTIPLIES = ("conv", "matmul", "gemm", "linear", "fullyconnected", "fully_connected", "innerproduct")
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "dot", "mv", "addmv")
_COMPOSITE = ("attention", "lstm", "gru", "rnn", "einsum", "moe")
"""In the names of operators that stand for several products: backends take them apart, so that nobody can count them."""
_QUANTIZES = ("quantizelinear", "quantize_per", "quantize_affine")
_DEQUANTIZES = ("dequantizelinear", "dequantize_per", "dequantize_affine")
_PACKED = {"MatMulNBits": "bits", "GatherBlockQuantized": "bits", "QMoE": "expert_weight_bits"}
"""Operators of com.microsoft whose bytes hold several values each, and the attribute that says of how many bits (4 where it does not)."""
_BITS = 4
_CASTS = ("cast", "_to_copy", "to.dtype", "convert_element_type")


@dataclass(frozen=True)
class ModelPrecision:
    """Of a model, by type without its sign: how many of its operators multiply in it, how many weights they and others read
    in it, and the types of all its values. An operator on what was dequantized computes in the type of the grid, and one
    with constant weights in theirs."""

    multiplying: Counter[str] = field(default_factory=Counter)
    weights: Counter[str] = field(default_factory=Counter)
    values: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Step:
    """One operator, of a graph or of a program: the names that it reads and gives."""

    operator: str
    reads: tuple[str, ...]
    gives: tuple[str, ...]


@dataclass(frozen=True)
class _Value:
    """The types of a value and of those that it comes from without a product between; its rank where it is constant."""

    kinds: frozenset[str]
    rank: int | None = None


def model_precision(model: Path) -> ModelPrecision:
    """Raises what reading the model raises."""
    steps, kinds, constants = _of_program(model) if format_of(model) == "torch" else _of_file(model)
    precisions = ModelPrecision(values=set(kinds.values()))
    values = {name: _Value(frozenset({kind}), constants.get(name)) for name, kind in kinds.items()}
    for step in steps:
        precision = _given(step, values, precisions)
        for name in step.gives:
            own = frozenset({kinds[name]} if name in kinds else ())
            values[name] = _Value(precision.kinds | own, precision.rank)
    return precisions


COARSE = ("float16", "bfloat16", "float8", "float4", "int8", "int4", "int2")
"""How the types begin, signs apart, whose values are no float32."""


def coarse_types(model: Path) -> tuple[str, ...]:
    """The types below float32 in which the model multiplies or stores weights, sorted; empty for one that is code. Raises what
    reading the model raises."""
    if is_factory(model):
        return ()
    precisions = model_precision(model)
    return tuple(sorted(dtype for dtype in {*precisions.multiplying, *precisions.weights} if dtype.startswith(COARSE)))


def readable_coarse_types(model: Path) -> tuple[str, ...] | UnsetType:
    """The same for a golden's lock: unset where the model cannot be read, so that nobody takes it for one in float32."""
    try:
        return coarse_types(model)
    except Exception:  # noqa: BLE001  whatever a damaged model, or a case that tests a checker, makes a reader raise
        return UNSET


@cache
def multiplies(operator: str) -> bool:
    """Whether an operator of that name, a model's or a backend's, is a sum of products."""
    name = operator.lower().removeprefix("aten.").removeprefix("qlinear")
    known = any(word in name for word in (*_MULTIPLIES, *_COMPOSITE)) or name.split(".")[0] in _PRODUCTS
    return known and not any(word in name for word in ("convert", "quantizelinear", "upsample"))


def _given(step: _Step, values: Mapping[str, _Value], precisions: ModelPrecision) -> _Value:
    """What comes out of one operator; what it computes in is added to `precisions`."""
    reads = [values[name] for name in step.reads if name in values]
    constant = bool(reads) and all(read.rank is not None for read in reads)
    rank = max(read.rank or 0 for read in reads) if constant else None
    carried = frozenset[str]().union(*(read.kinds for read in reads))
    name = step.operator.lower()
    if any(word in name for word in _DEQUANTIZES):
        return _Value(values[step.reads[0]].kinds if step.reads[0] in values else carried, rank)
    if any(word in name for word in _QUANTIZES):
        return _Value(frozenset(), rank)
    if any(word in name for word in _CASTS):
        return _Value(carried if constant else frozenset(), rank)
    if not constant:
        precisions.weights.update(kind for read in reads if read.rank for kind in read.kinds)
    if not multiplies(step.operator):
        return _Value(carried, rank)
    # Whoever quantizes the weights of a float layer made them coarser than the model has them.
    weights = [read for read in reads if (read.rank or 0) >= 2] or reads
    used = frozenset[str]().union(*(weight.kinds for weight in weights))
    composite = any(word in name for word in _COMPOSITE)
    precisions.values.update({"bool"} if composite else ())  # masks, which nobody sees from outside
    for counter in (precisions.multiplying, precisions.weights) if composite else (precisions.multiplying,):
        for kind in used:
            counter[kind] += math.inf if composite else 1  # type: ignore[assignment]
    return _Value(frozenset())


_Read = tuple[list[_Step], dict[str, str], dict[str, int]]
"""Operators in their order, the types of values, and the ranks of those that are constant."""


def _of_file(model: Path) -> _Read:
    import onnx
    from onnx import inliner, shape_inference

    proto = inliner.inline_local_functions(onnx.load(model, load_external_data=False))
    with contextlib.suppress(RuntimeError):  # InferenceError: then only what is written down is known
        proto = shape_inference.infer_shapes(proto)
    steps: list[_Step] = []
    kinds: dict[str, str] = {}
    constants: dict[str, int] = {}
    _read_graph(proto.graph, steps, kinds, constants)
    return steps, kinds, constants


def _read_graph(graph: GraphProto, steps: list[_Step], kinds: dict[str, str], constants: dict[str, int]) -> None:
    """A graph and those inside of its nodes, one after the other: inner ones see the names of the outer."""
    for tensor in graph.initializer:
        kinds[tensor.name], constants[tensor.name] = _name(tensor.data_type), len(tensor.dims)
    for sparse in graph.sparse_initializer:
        name = sparse.values.name
        kinds[name], constants[name] = _name(sparse.values.data_type), len(sparse.dims)
    for value in (*graph.input, *graph.value_info, *graph.output):
        if value.type.tensor_type.elem_type:
            kinds.setdefault(value.name, _name(value.type.tensor_type.elem_type))
    for node in graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    kinds[node.output[0]], constants[node.output[0]] = (
                        _name(attribute.t.data_type),
                        len(attribute.t.dims),
                    )
                elif attribute.HasField("sparse_tensor"):
                    sparse = attribute.sparse_tensor
                    kinds[node.output[0]], constants[node.output[0]] = (
                        _name(sparse.values.data_type),
                        len(sparse.dims),
                    )
            continue
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                _read_graph(inner, steps, kinds, constants)
        if node.op_type in _PACKED:
            kinds.update(_unpacked(node, kinds))
        for name in node.output:
            if name and name not in kinds and node.input and node.input[0] in kinds:
                kinds[name] = kinds[node.input[0]]  # an operator that inference does not know
        steps.append(_Step(node.op_type, tuple(filter(None, node.input)), tuple(filter(None, node.output))))


def _unpacked(node: NodeProto, kinds: Mapping[str, str]) -> dict[str, str]:
    """The types of what an operator reads from bytes, by what it takes out of them."""
    stated = [attribute.i for attribute in node.attribute if attribute.name == _PACKED[node.op_type]]
    kind = f"int{stated[0] if stated else _BITS}"
    return dict.fromkeys((name for name in node.input if kinds.get(name) == "int8"), kind)


def _name(element: int) -> str:
    import onnx

    return (
        ""
        if element == onnx.TensorProto.STRING
        else unsigned(dtype_name(onnx.helper.tensor_dtype_to_np_dtype(element)))
    )


def _of_program(model: Path) -> _Read:
    from assay.onnx_to_torch.dtypes import name_of

    exported: Any = open_program(model).exported
    signature = exported.graph_signature
    stored = {
        *signature.inputs_to_parameters,
        *signature.inputs_to_buffers,
        *signature.inputs_to_lifted_tensor_constants,
    }
    steps: list[_Step] = []
    kinds: dict[str, str] = {}
    constants: dict[str, int] = {}
    for node in exported.graph.nodes:
        value = next(_tensors(node.meta.get("val")), None)
        if value is not None:
            kinds[node.name] = unsigned(name_of(value.dtype))
        if node.name in stored and value is not None:
            constants[node.name] = len(value.shape)
        if node.op == "call_function":
            steps.append(_Step(str(node.target), tuple(operand.name for operand in node.all_input_nodes), (node.name,)))
    return steps, kinds, constants


def _tensors(value: Any) -> Iterator[Any]:
    return (part for part in (value if isinstance(value, list | tuple) else (value,)) if hasattr(part, "dtype"))
