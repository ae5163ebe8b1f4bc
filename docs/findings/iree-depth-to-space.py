"""IREE 3.13.0, llvm-cpu: DepthToSpace in mode CRD takes the channels apart as (block, block, channels).

Expected: (channels, block, block), as the standard says. Got: right only where there are as many channels as a block has rows.
Upstream: iree-org/iree#24179, where it was seen with blocks of 3. Found by `assay run models --flow iree-llvm-cpu`:
super_resolution (a pixel shuffle of torch is a DepthToSpace of mode CRD).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, save
from onnx.reference import ReferenceEvaluator

from assay.backends.iree.backend import IREE
from assay.core.flow import Flow

wrong = False
for mode, channels, block in (("DCR", 3, 2), ("CRD", 2, 2), ("CRD", 3, 2), ("CRD", 2, 3)):
    x = np.arange(channels * block**2 * 4, dtype=np.float32).reshape(1, -1, 2, 2)
    graph = helper.make_graph(
        [helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=block, mode=mode)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, channels, 2 * block, 2 * block])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    with tempfile.TemporaryDirectory() as name:
        save(model, Path(name) / "one.onnx")
        result = IREE().lower(Path(name) / "one.onnx", Flow("iree-llvm-cpu", "iree")).run({"x": x})["y"]
    (right,) = ReferenceEvaluator(model).run(None, {"x": x})
    other = x.reshape(block, block, channels, 2, 2).transpose(0, 3, 1, 4, 2).reshape(right.shape)
    off = int((result != right).sum())
    meaning = f", as if taken apart the other way: {np.array_equal(result, other)}" if off else ""
    print(f"{mode}, {channels} channels, blocks of {block}: {off} of {x.size} elements are wrong{meaning}")
    wrong |= off != 0
sys.exit(int(wrong))
