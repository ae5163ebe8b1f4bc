"""What other libraries answer, called directly and without Assay: what the verdicts of `real_models.py` are compared with."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Feed = dict[str, Array]

TOO_FAR = 0.1
"""Relative L2 distance of two independent engines beyond which a third is asked."""
VACUOUS = 1e-9
"""Relative L2 distance within which answers to other inputs are the same answers."""


def independent(path: Path, feeds: Sequence[Feed]) -> dict[str, list[Feed]]:
    """By library: ONNX Runtime without optimisation and OpenVINO without dynamic quantization; where one of them cannot, or they are
    far apart, the reference evaluator of the package `onnx`, too."""
    answers: dict[str, list[Feed]] = {}
    evaluators: dict[str, Callable[[Path, Sequence[Feed]], list[Feed]]] = {
        "onnxruntime": by_onnxruntime, "openvino": by_openvino, "onnx": by_onnx,
    }  # fmt: skip
    for peer, evaluate in evaluators.items():
        if len(answers) == 2 and apart(*answers.values()) <= TOO_FAR:
            break
        try:
            answers[peer] = evaluate(path, feeds)
        except Exception as error:  # noqa: BLE001 - whatever a runtime raises: then it is no witness
            print(f"  {peer} cannot: {' '.join(str(error).split())[:120]}", file=sys.stderr)
    return answers


def by_onnxruntime(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return [dict(zip(names, session.run(None, feed), strict=True)) for feed in feeds]


def by_openvino(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import onnx
    import openvino

    options = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    compiled = openvino.Core().compile_model(str(path), "CPU", options)
    names = [value.name for value in onnx.load(str(path), load_external_data=False).graph.output]
    ports = [next(name for name in port.names if name in feeds[0]) for port in compiled.inputs]
    answers = []
    for feed in feeds:
        given = compiled([feed[name] for name in ports])
        answers.append({name: np.array(given[place]) for place, name in enumerate(names)})
    return answers


def by_onnx(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = _with_last_axes(onnx.load(str(path)))
    if any(
        node.op_type in RECURRENT and len(node.input) > LENGTHS and node.input[LENGTHS] for node in model.graph.node
    ):
        raise NotImplementedError("onnx's reference evaluator takes every sequence for full (sequence_lens)")
    opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 1)
    evaluator = ReferenceEvaluator(model, new_ops=_grids() if opset < GRIDS_IN_ONNX else None)
    return [dict(zip(evaluator.output_names, evaluator.run(None, feed), strict=True)) for feed in feeds]


RECURRENT = ("GRU", "LSTM", "RNN")
LENGTHS = 4
"""The place of `sequence_lens` among their inputs."""


def _with_last_axes(model: Any) -> Any:
    """The standard gives every signal of an STFT a last axis (of its real or complex parts); ONNX Runtime takes one without, too."""
    from onnx import helper, numpy_helper, shape_inference

    graph = model.graph
    ranks = {
        value.name: len(value.type.tensor_type.shape.dim)
        for value in shape_inference.infer_shapes(model).graph.value_info
    }
    for place, node in reversed(list(enumerate(graph.node))):
        if node.op_type == "STFT" and ranks.get(node.input[0]) == 2:
            added = helper.make_node("Unsqueeze", [node.input[0], f"{node.name}/last"], [f"{node.output[0]}/signal"])
            graph.initializer.append(numpy_helper.from_array(np.array([-1]), f"{node.name}/last"))
            node.input[0] = added.output[0]
            graph.node.insert(place, added)
    return model


GRIDS_IN_ONNX = 19
"""From this opset on the reference evaluator knows QuantizeLinear and DequantizeLinear (onnx 1.23)."""


def _grids() -> list[Any]:
    """Both as the standard defines them before that, in numpy."""
    from onnx.reference.op_run import OpRun

    def along(parameter: Array, x: Array, axis: int) -> Array:
        return (
            parameter.reshape([-1 if at == axis % x.ndim else 1 for at in range(x.ndim)])
            if parameter.size > 1
            else parameter
        )

    class QuantizeLinear(OpRun):  # type: ignore[misc]
        def _run(self, x: Array, scale: Array, zero: Array | None = None, axis: int = 1, **_: Any) -> tuple[Array]:
            zero = np.zeros(scale.shape, np.uint8) if zero is None else zero
            ends = np.iinfo(zero.dtype)
            steps = np.rint(x / along(scale, x, axis)) + along(zero.astype(np.float32), x, axis)
            return (np.clip(steps, ends.min, ends.max).astype(zero.dtype),)

    class DequantizeLinear(OpRun):  # type: ignore[misc]
        def _run(self, x: Array, scale: Array, zero: Array | None = None, axis: int = 1, **_: Any) -> tuple[Array]:
            start = 0 if zero is None else along(zero.astype(np.int64), x, axis)
            return (((x.astype(np.int64) - start) * along(scale, x, axis)).astype(scale.dtype),)

    return [QuantizeLinear, DequantizeLinear]


def nearest(own: Sequence[Feed], peers: dict[str, list[Feed]]) -> tuple[float | None, str]:
    """The smallest over the peers of the largest distance of any output, and that peer."""
    if not own or not peers:
        return None, ""
    return min((apart(own, answers), peer) for peer, answers in peers.items())


def nearest_pair(peers: Mapping[str, Sequence[Feed]]) -> float | None:
    """The distance of the two of these that are nearest to each other; None of fewer than two."""
    return min((apart(*pair) for pair in itertools.combinations(peers.values(), 2)), default=None)


def apart(own: Sequence[Feed], other: Sequence[Feed]) -> float:
    """Relative L2 distance, the largest over outputs; infinite for other names or sizes, and for NaN on one side only."""
    worst = 0.0
    for name in own[0]:
        square = norm = 0.0
        for mine, theirs in zip(own, other, strict=True):
            if name not in theirs or mine[name].shape != theirs[name].shape:
                return float("inf")
            a, b = mine[name].astype(np.float64), theirs[name].astype(np.float64)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            with np.errstate(invalid="ignore"):
                square += float(np.sum(np.where(same, 0.0, a - b) ** 2))
            norm += float(np.nansum(b**2))
        if np.isnan(square):  # NaN on one side only: no number is smaller than it
            return float("inf")
        worst = max(worst, (square / norm) ** 0.5 if norm else float(square > 0))
    return worst


def vacuous(path: Path, feeds: Sequence[Feed], peers: dict[str, list[Feed]]) -> bool:
    """Whether other inputs have the same answers, by an independent engine: then agreement proves nothing."""
    if not peers:
        return False
    peer = next(iter(peers))
    evaluate = {"onnxruntime": by_onnxruntime, "openvino": by_openvino, "onnx": by_onnx}[peer]
    try:
        return apart(evaluate(path, [_altered(feed) for feed in feeds]), peers[peer]) <= VACUOUS
    except Exception:  # noqa: BLE001 - other inputs need not be ones that the model takes
        return False


def _altered(feed: Feed) -> Feed:
    """In the reverse order, and real numbers at 0.7 of their size, which a model may take out: each stays within the range of all."""
    turned = {name: array[..., ::-1].copy() if array.ndim else array for name, array in feed.items()}
    return {name: array * array.dtype.type(0.7) if array.dtype.kind == "f" else array for name, array in turned.items()}
