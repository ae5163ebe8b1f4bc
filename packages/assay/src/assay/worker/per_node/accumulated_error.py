"""How far each tensor of an engine is from the same tensor of the float model: the error that has accumulated up to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.core.dtype import is_floating
from assay.errors import Lowering, Unsupported
from assay.numerics.load_onnx import load_onnx
from assay.numerics.oracle.decompose import expanded
from assay.numerics.tolerance.simulate.double_evaluation import as_type, wide_evaluator
from assay.ports import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Values = Mapping[str, Tensor]
ROUNDS = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "FakeQuantize", "Cast", "Identity"})
"""Operators whose output stands for their first input, in another type or on a grid."""


@dataclass(frozen=True)
class Accumulated:
    """One tensor against the float model's, all samples together. Units as in `NodeError`."""

    sqnr_db: float
    cosine: float
    max_abs: float

    @property
    def rel_l2(self) -> float:
        """Norm of the difference over norm of the float tensor."""
        return float(10.0 ** (-self.sqnr_db / 20.0))


def accumulated_errors(
    graph: ModelProto, float_model: Path | None, samples: Sequence[Values], feeds: Sequence[Values]
) -> dict[str, Accumulated]:
    """By the name of the engine's tensor. `graph` is what the engine was built from, `feeds` its tensors, `float_model` the ONNX
    file before any transform (None: `graph` itself), `samples` that model's inputs. Empty where float64 cannot evaluate it."""

    plain = graph if float_model is None else load_onnx(str(float_model))
    reads = {value.name for value in plain.graph.input}
    known = reads | {name for node in plain.graph.node for name in node.output if name}
    seen_as = _seen_by_readers(graph, feeds[0])
    hidden = {tapped_name for name, tapped_name in seen_as.items() if tapped_name != name}
    # The end of a quantized model has its name behind the last grid.
    stands_for = {
        name: _origin(name, graph, known) or (seen_as.get(name, "") if seen_as.get(name) in known else "")
        for name in feeds[0]
        if name not in hidden
    }
    origins = {name: origin for name, origin in stands_for.items() if origin}
    taps = sorted(set(origins.values()) - reads - {value.name for value in plain.graph.output})
    names = [*(value.name for value in plain.graph.output), *taps]
    try:
        evaluator = wide_evaluator(expanded(plain), {})
        feeds_values = [
            dict(zip(names, evaluator.evaluate(as_type(sample, np.float64), taps), strict=True)) | dict(sample)
            for sample in samples
        ]
    except (Lowering, Unsupported, KeyError):
        return {}
    pairs = {
        name: [
            (values[origin], feed[seen_as.get(name, name)]) for values, feed in zip(feeds_values, feeds, strict=True)
        ]
        for name, origin in origins.items()
    }
    return {name: error for name, both in pairs.items() if (error := _error(both)) is not None}


def added_errors(nodes: Sequence[NodeProto], errors: Mapping[str, Accumulated]) -> dict[str, float]:
    """By the name of a tensor: the relative error that its node adds to those of the tensors that it reads. A tensor of whole
    numbers (on a grid) has the error of what was put there."""
    squares = {name: error.rel_l2**2 for name, error in errors.items()}
    added = {}
    for node in nodes:
        read = max((squares[name] for name in node.input if name in squares), default=0.0)
        for name in node.output:
            if name in errors:
                added[name] = math.sqrt(max(squares[name] - read, 0.0))
            else:
                squares[name] = read
    return added


def _seen_by_readers(graph: ModelProto, feed: Values) -> dict[str, str]:
    """Tensors that are only read to be put on a grid, and the tensor that their readers get instead. What is there before the
    grid may be another value: where a quantizer took out a Relu, the grid cuts off what the Relu did."""
    readers: dict[str, list[NodeProto]] = {}
    for node in graph.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    ends = {value.name for value in graph.graph.output}
    made = {name for node in graph.graph.node if node.op_type not in ROUNDS for name in node.output}
    readers_values = {}
    for name in made & set(feed) - ends:
        first = readers.get(name, [])
        if first and all(node.op_type == "QuantizeLinear" for node in first):
            after = [node.output[0] for quantizer in first for node in readers.get(quantizer.output[0], [])]
            if after and all(
                node.op_type == "DequantizeLinear" for quantizer in first for node in readers[quantizer.output[0]]
            ):
                readers_values[name] = next((tensor_name for tensor_name in after if tensor_name in feed), name)
    return readers_values


def _origin(name: str, graph: ModelProto, known: set[str]) -> str:
    """The tensor of the float model that this one stands for, "" for none."""
    producers = {output: node for node in graph.graph.node for output in node.output}
    for step in _chain(name, producers):
        if step in known:
            return step
    return ""


def _chain(name: str, producers: Mapping[str, NodeProto]) -> Iterator[str]:
    yield name
    while (node := producers.get(name)) is not None and node.op_type in ROUNDS and node.input[0]:
        name = node.input[0]
        yield name


def _error(pairs: Sequence[tuple[Tensor, Tensor]]) -> Accumulated | None:
    """None for what is no floating tensor, or has other sizes."""
    signal = noise = product = energy = largest = 0.0
    for expected, actual in pairs:
        if (
            not is_floating(actual.dtype.name)
            or np.shape(expected) != actual.shape
            or np.asarray(expected).dtype.kind != "f"
        ):
            return None
        wide, exact = actual.astype(np.float64), np.asarray(expected, np.float64)
        finite = np.isfinite(wide) & np.isfinite(exact)
        wide, exact = wide[finite], exact[finite]
        difference = np.abs(wide - exact)
        signal += float(np.sum(exact**2))
        energy += float(np.sum(wide**2))
        product += float(np.sum(wide * exact))
        noise += float(np.sum(difference**2))
        largest = max(largest, float(difference.max(initial=0.0)))
    norm = math.sqrt(signal * energy)
    ratio = math.inf if noise == 0.0 else 10 * math.log10(signal / noise) if signal > 0.0 else -math.inf
    return Accumulated(ratio, product / norm if norm else math.nan if noise else 1.0, largest)
