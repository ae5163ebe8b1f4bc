"""Small models with goldens of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model

F, I64 = TensorProto.FLOAT, TensorProto.INT64


def save(path: Path, nodes: list, inputs: dict, outputs: dict, constants: Mapping[str, np.ndarray] = {}) -> Path:  # type: ignore[type-arg]
    graph = helper.make_graph(
        nodes,
        path.stem,
        [helper.make_tensor_value_info(name, *spec) for name, spec in inputs.items()],
        [helper.make_tensor_value_info(name, *spec) for name, spec in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


def record(path: Path, samples: list[dict[str, np.ndarray]]) -> Path:
    """A golden with the outputs of ONNX's reference evaluator."""
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(str(path))
    outputs = [dict(zip(evaluator.output_names, evaluator.run(None, sample), strict=True)) for sample in samples]
    folder = path.with_suffix(".golden")
    write_golden(
        folder, model=open_model(path), inputs=samples, outputs=outputs, seed=0, producer="reference",
        producer_version="", who="tests", reason="a test", created_at="2026-11-21T00:00:00+00:00",
    )  # fmt: skip
    return folder
