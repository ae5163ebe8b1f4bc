"""A tiny real model and its golden."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assay.core.model import Model
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model


def linear_model(path: Path, *, scale: float = 1.0) -> Path:
    """x (N, 4) -> Gemm -> Relu -> y (N, 3), float32, symbolic batch."""
    generator = np.random.default_rng(7)
    weight = (generator.normal(size=(4, 3)) * scale).astype(np.float32)
    bias = generator.normal(size=3).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="gemm"),
            helper.make_node("Relu", ["h"], ["y"], name="relu"),
        ],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(model, path)
    return path


def linear_program(path: Path) -> Path:
    """x (2, 4) -> Linear -> y (2, 3), as `torch.export` saves it."""
    import torch

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 3)

        def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"y": self.linear(x)}

    torch.manual_seed(7)
    torch.export.save(torch.export.export(Layer().eval(), (torch.ones(2, 4),)), path)
    return path


def golden_for(path: Path, folder: Path, *, samples: int = 5) -> Model:
    """Reference outputs in numpy for `linear_model`."""
    model = open_model(path)
    proto = onnx.load(path)
    weight, bias = (numpy_helper.to_array(tensor) for tensor in proto.graph.initializer)
    generator = np.random.default_rng(11)
    inputs = [{"x": generator.normal(size=(1, 4)).astype(np.float32)} for _ in range(samples)]
    outputs = [{"y": np.maximum(sample["x"] @ weight + bias, 0).astype(np.float32)} for sample in inputs]
    write_golden(
        folder,
        model=model,
        inputs=inputs,
        outputs=outputs,
        seed=11,
        producer="numpy",
        producer_version=np.__version__,
        who="tests",
        reason="a test",
        created_at="2026-11-21T00:00:00+00:00",
    )
    return model
