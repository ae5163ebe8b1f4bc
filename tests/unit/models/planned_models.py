"""Small models, the plan of their inputs, and what they answer to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper, parser

from assay.core.input_plan import InputPlan
from assay.models.input_plan.draw_plan import plan_of
from assay.models.onnx_file import describe
from assay.models.random_inputs import random_inputs

Weights = dict[str, np.ndarray[Any, Any]]


def made(folder: Path, text: str, weights: Weights | None = None, opset: int = 17) -> Path:
    """A model in the onnx text format, its weights apart."""
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]> {text}')
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in (weights or {}).items())
    path = folder / "model.onnx"
    onnx.save(model, path)
    return path


def planned(path: Path, batch: int = 1, **fixed: int) -> InputPlan:
    return plan_of(describe(path), batch=batch, fixed=fixed, stated={})


def answers(path: Path, plan: InputPlan, samples: int = 3) -> list[list[Any]]:
    """What ONNX Runtime answers to the planned inputs, with nothing optimised. Raises as it does."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return [
        session.run(None, sample)
        for sample in random_inputs(describe(path), seed=0, samples=samples, batch=1, plan=plan)
    ]


def rows(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32) * 0.3
