"""A model on its way through one version of TensorRT, as `generated_tensorrt` has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from generated_tensorrt import World, make
from onnx import parser

from assay.backends.cuda import Cuda
from assay.backends.onnx_loader import load_checked, signature_of
from assay.backends.tensorrt.api import api_of
from assay.backends.tensorrt.engine_build import built
from assay.backends.tensorrt.loaded_engine import Declared, TensorRTEngine
from assay.backends.tensorrt.log_lines import Listener
from assay.backends.tensorrt.settings import Settings

TWICE = "g (float[n, 3] x) => (float[n, 3] y) { y = Add(x, x) }"
DIMS = {"n": (1, 4, 8)}


def _write(folder: Path, text: str) -> Path:
    path = folder / "model.onnx"
    onnx.save(parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}'), path)
    return path


def world_of(**changes: Any) -> World:
    plain: dict[str, Any] = {
        "inputs": {"x": ("FLOAT", (-1, 3))},
        "outputs": {"y": ("FLOAT", (-1, 3))},
        "compute": lambda feeds: {"y": feeds["x"] * 2},
    }
    return World(**plain | changes)


class Version:
    """A model on its way through one version."""

    def __init__(self, version: str, world: World, folder: Path, text: str = TWICE) -> None:
        self.trt = make(version, world)
        self.path = _write(folder, text)
        self.api, self.listener = api_of(self.trt), Listener(self.trt)

    def build(self, dims: Any = DIMS, **settings: Any) -> bytes:
        proto = load_checked(self.path)
        chosen = Settings(**{"precision": "fp32"} | settings)
        return built(self.trt, self.api, self.path, proto, signature_of(proto), chosen, dims, self.listener)

    def engine(self, device: Cuda, **settings: Any) -> TensorRTEngine:
        declared = Declared(signature_of(load_checked(self.path)), Settings(**{"precision": "fp32"} | settings))
        return TensorRTEngine(self.trt, self.api, b"plan", declared, self.listener, device)

    def called(self, name: str) -> list[list[Any]]:
        return [given for call, given in self.trt.calls if call == name]
