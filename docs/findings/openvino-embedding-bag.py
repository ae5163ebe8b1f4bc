"""OpenVINO 2026.4.1: its importer gives no type to the sum of rows in the loop that torch's exporter writes for an embedding bag.

Expected: the sums of rows, as ONNX Runtime gives. Got: "Unsupported input type dynamic" for the ReduceSum, and so for the Slice before it.
Found by `assay run operators --flow openvino`: `embedding_bag-float32-smoke-3x4-mode=sum`, and the model `recommender`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import onnxruntime
import openvino
import torch
from openvino.frontend import OpConversionFailure

torch.manual_seed(0)
bag, indices = torch.nn.EmbeddingBag(5, 8, mode="sum").eval(), torch.tensor([[0, 1, 2, 4], [4, 3, 2, 4], [1, 1, 0, 0]])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "m.onnx"
    torch.onnx.export(bag, (indices,), path, input_names=["x"], dynamo=True, verbose=False)
    (answer,) = onnxruntime.InferenceSession(str(path)).run(None, {"x": indices.numpy()})
    print("ONNX Runtime is off by", abs(answer - bag(indices).detach().numpy()).max())
    try:
        compiled = openvino.Core().compile_model(openvino.convert_model(path), "CPU")
    except OpConversionFailure as error:
        print("OpenVINO:", " ".join(str(error).split())[:600])
        sys.exit(1)
    print("OpenVINO is off by", abs(compiled(indices.numpy())[0] - answer).max())
sys.exit()
