"""The lines that call a backend without Assay give the right answer of a right model."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import parser

from assay import plugins
from assay.core.model import TensorSpec
from assay.models.program import describe, open_program, save_program
from assay.plugins import find_flow
from assay.ports import ShowsPlainUse, ShowsSavedUse
from assay.worker.regions.describe_program import program_code

X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8)
WEIGHT = np.arange(16, dtype=np.float32).reshape(2, 8) / 8
RIGHT = np.tanh(X @ WEIGHT.T)


def plain(flow_name: str) -> str:
    """The code of the backend of that flow."""
    flow = find_flow(flow_name)
    backend = plugins.load("assay.backends", flow.backend)()
    assert isinstance(backend, ShowsPlainUse)
    return backend.plain_code(flow)


def answered(code: str, model: Any) -> Any:
    """What its `run` makes of the model."""
    said: dict[str, Any] = {"np": np}
    exec(compile(code, "<plain>", "exec"), said)
    return said["run"](model, {"x": X})["y"]


@pytest.mark.parametrize(
    "flow", ["iree-llvm-cpu", "iree-vmvx", "mnn-f32", "ncnn-f32", "onnxruntime", "openvino-f32", "tvm-llvm"]
)
@pytest.mark.filterwarnings("ignore::UserWarning:tvm", "ignore::DeprecationWarning")
def test_a_graph_is_converted_and_run(flow: str) -> None:
    graph = "(float[1,8] x) => (float[1,2] y) <float[2,8] w = {%s}> { p = Gemm <transB = 1> (x, w)  y = Tanh (p) }"
    numbers = ", ".join(map(str, WEIGHT.reshape(-1).tolist()))
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {graph % numbers}')
    np.testing.assert_allclose(answered(plain(flow), model), RIGHT, rtol=1e-5)


@pytest.mark.parametrize("flow_name", ["onnxruntime", "openvino-f32"])
def test_a_graph_is_run_as_it_was_saved_and_no_file_is_left(
    flow_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    graph = "(float[1,8] x) => (float[1,2] y) <float[2,8] w = {%s}> { p = Gemm <transB = 1> (x, w)  y = Tanh (p) }"
    numbers = ", ".join(map(str, WEIGHT.reshape(-1).tolist()))
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {graph % numbers}')
    flow = find_flow(flow_name)
    backend = plugins.load("assay.backends", flow.backend)()
    assert isinstance(backend, ShowsSavedUse)
    code = backend.saved_code(flow)
    np.testing.assert_allclose(answered(code, model), RIGHT, rtol=1e-5)
    assert not list(tmp_path.iterdir())
    assert code != plain(flow_name)


def written(tmp_path: Path) -> str:
    """The code of a program of one layer."""
    import torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 2, bias=False)
            self.layer.weight.data = torch.from_numpy(WEIGHT.copy())

        def forward(self, x: Any) -> Any:
            return torch.tanh(self.layer(x))

    exported = torch.export.export(Net().eval(), (torch.from_numpy(X),))
    path = save_program(exported, tmp_path / "net.pt2", (TensorSpec("x", "float32", (1, 8)),), ["y"])
    return program_code(open_program(path), {"x": X}, {"y": RIGHT})


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("flow", ["torch-eager", "torch-inductor", "executorch-portable", "executorch-xnnpack"])
def test_a_program_is_written_as_a_module_and_run(flow: str, tmp_path: Path) -> None:
    import torch

    said: dict[str, Any] = {"np": np, "torch": torch}
    exec(compile(written(tmp_path), "<program>", "exec"), said)
    np.testing.assert_array_equal(said["expected"]["y"], RIGHT)
    np.testing.assert_allclose(answered(plain(flow), said["model"]), RIGHT, rtol=1e-5)


def test_what_cannot_be_said_in_plain_code_has_none() -> None:
    assert plain("executorch-vulkan") == ""
    assert plain("torch-eager-f64") == ""


def test_a_program_that_keeps_state_is_not_written() -> None:
    import torch

    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x: Any) -> Any:
            self.calls.add_(1)  # type: ignore[operator]
            return x + self.calls

    exported = torch.export.export(Counting(), (torch.zeros(2),))
    assert program_code(describe(exported), {}, {}) == ""
