"""IREE 3.13.0, vmvx: a cast from a real number to a whole one rounds to the nearest, halves away from zero.

Expected: the fraction is cut off, as ONNX says and as llvm-cpu does. Got: 0.75 becomes 1, -1.5 becomes -2. Whatever computes a place by
such a cast is wrong with it: a linear Resize takes the wrong neighbours. Found by `assay run models --flow iree-vmvx` (deeplab).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, save

from assay.backends.iree import IREE
from assay.core.flow import Flow

x = np.array([0.25, 0.5, 0.75, 1.5, 2.5, -0.25, -0.75, -1.5, -2.7], np.float32)
ends = [
    helper.make_tensor_value_info(name, kind, x.shape)
    for name, kind in (("x", TensorProto.FLOAT), ("y", TensorProto.INT32))
]
graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT32)], "one", ends[:1], ends[1:])
wrong = {}
for target in ("llvm-cpu", "vmvx"):
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "one.onnx"
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), model)
        found = IREE().lower(model, Flow(f"iree-{target}", "iree", options={"target": target})).run({"x": x})["y"]
    off = found != np.trunc(x)
    wrong[target] = int(off.sum())
    told = ", ".join(f"{a:g} became {b}" for a, b in zip(x[off], found[off], strict=True))
    print(f"{target}: {wrong[target]} of {off.size} are wrong {told}")
sys.exit(int(wrong["vmvx"] > 0))
