"""IREE 3.13.0, vmvx: a cast from a real number to a whole one rounds to the nearest, halves away from zero; and IsNaN is never true.

Expected: the fraction is cut off and NaN is seen, as ONNX says and as llvm-cpu does. Got: 0.75 becomes 1, -1.5 becomes -2. Whatever
computes a place by such a cast is wrong with it: a linear Resize takes the wrong neighbours. Found by `assay run models --flow
iree-vmvx` (deeplab) and by its operators.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, save

from assay.backends.iree.backend import IREE
from assay.core.flow import Flow

x = np.array([0.25, 0.5, 0.75, 1.5, 2.5, -0.25, -0.75, -1.5, -2.7], np.float32)
odd = np.array([np.nan, 1, np.inf], np.float32)


def answer(target: str, operator: str, kind: int, given: np.ndarray, **attributes: int) -> np.ndarray:
    ends = [helper.make_tensor_value_info(n, k, given.shape) for n, k in (("x", TensorProto.FLOAT), ("y", kind))]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], **attributes)], "one", ends[:1], ends[1:])
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "one.onnx"
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), model)
        engine = IREE().lower(model, Flow(f"iree-{target}", "iree", options={"target": target}))
        cast_values: np.ndarray = engine.run({"x": given})["y"]
        return cast_values


wrong = {}
for target in ("llvm-cpu", "vmvx"):
    cast = answer(target, "Cast", TensorProto.INT32, x, to=TensorProto.INT32)
    seen = answer(target, "IsNaN", TensorProto.BOOL, odd)
    off = cast != np.trunc(x)
    wrong[target] = int(off.sum()) + int((seen != np.isnan(odd)).sum())
    changes = ", ".join(f"{a:g} became {b}" for a, b in zip(x[off], cast[off], strict=True))
    print(f"{target}: {off.sum()} of {off.size} casts are wrong {changes}; IsNaN of NaN is {bool(seen[0])}")
sys.exit(int(wrong["vmvx"] > 0))
