"""TVM 0.27.0.post1, llvm: RoiAlign moves regions before it scales them.

Expected, by the standard (RoiAlign-16, `half_pixel`, the default): a corner c of a region is at c * spatial_scale - 0.5. Got:
(c - 0.5) * spatial_scale, so that with a scale of 0.5 every region lies a fourth of an element too far. With a scale of 1 the answer is
right. Found by `assay fuzz --flow tvm-llvm --seed 281106` (generator near-misses).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import tvm
from onnx import helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def compiled(operator: str, inputs: dict[str, Any], shape: tuple[int, ...], opset: int, **attributes: Any) -> Any:
    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    graph = helper.make_graph(
        [helper.make_node(operator, [*inputs], ["y"], **attributes)],
        "node",
        ends,
        [helper.make_tensor_value_info("y", 1, shape)],
    )
    module = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8))
    passes = [relax.transform.DecomposeOpsForInference(), relax.get_pipeline("zero")]
    with tvm.target.Target("llvm") as target:
        executable = tvm.compile(tvm.transform.Sequential(passes)(module), target=target)
    return relax.VirtualMachine(executable, tvm.cpu())["main"]


image = np.arange(12, dtype=np.float32).reshape(1, 1, 1, 12).repeat(6, axis=2)  # each element is its column
region = {"x": image, "regions": np.float32([[4, 2, 8, 6]]), "of": np.int64([0])}
align = compiled("RoiAlign", region, (1, 1, 1, 1), 16, spatial_scale=0.5, sampling_ratio=1)
middle = float(align(*(tvm.runtime.tensor(array) for array in region.values())).numpy().ravel()[0])
due = (4 + 8) / 2 * 0.5 - 0.5
print(f"RoiAlign: {middle}, expected {due}{'' if abs(middle - due) < 1e-5 else '  WRONG'}")

sys.exit(int(abs(middle - due) > 1e-5))
