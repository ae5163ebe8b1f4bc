"""From a trained torch module to the two ONNX files of a model: a dynamic batch, and a batch that is always one."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from scenes import Array

MODELS = Path(__file__).parent / "models"
OPSET = 17


def export(net: torch.nn.Module, name: str, image: torch.Tensor, outputs: list[str]) -> Path:
    """Write `models/<name>.onnx` and `models/<name>-static.onnx`, checked; return the first. `image` is one sample.

    Batch normalisations stay operators of their own and weights keep their names, so that a backend has something to
    fuse and a report something to name.
    """
    MODELS.mkdir(exist_ok=True)
    dynamic = MODELS / f"{name}.onnx"
    for path, axes in (
        (dynamic, {tensor: {0: "batch"} for tensor in ["image", *outputs]}),
        (MODELS / f"{name}-static.onnx", None),
    ):
        with warnings.catch_warnings():
            # The exporter that torch prefers needs onnxscript; this one needs nothing and is deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            torch.onnx.export(
                net.eval(), (image,), str(path), dynamo=False, opset_version=OPSET, dynamic_axes=axes,
                input_names=["image"], output_names=outputs,
                do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE,
            )  # fmt: skip
        _declare(path, net(image))
        onnx.checker.check_model(str(path), full_check=True)
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    return dynamic


def _declare(path: Path, outputs: torch.Tensor | tuple[torch.Tensor, ...]) -> None:
    """Say the shape of each output: behind a Reshape the exporter calls every dimension unknown."""
    model = onnx.load(path)
    for value, output in zip(
        model.graph.output, (outputs,) if isinstance(outputs, torch.Tensor) else outputs, strict=True
    ):
        for dimension, size in list(zip(value.type.tensor_type.shape.dim, output.shape, strict=True))[1:]:
            dimension.dim_value = size
    onnx.save(model, path)


def predict(path: Path, image: Array) -> list[Array]:
    """The outputs of ONNX Runtime for all of `image` in one batch: what is measured is what is shipped."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return [np.asarray(output) for output in session.run(None, {"image": image})]
