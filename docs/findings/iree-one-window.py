"""IREE 3.13.0, llvm-cpu: a strided window that fits once, with something left over, is not compiled.

Expected: an answer for each of these. Got: for a pool or a convolution with a stride whose output is 1 long while its input is longer
than the window, `'linalg.generic' op inferred input/output operand #1 has shape's dimension #0 to be 6, but found 4`. Exactly
as long as the window, with a second place for it, or with stride 1 it is compiled. Found by
`assay run models --flow iree-llvm-cpu --filter m5-static`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from iree.compiler.tools import CompilerToolError, compile_str
from onnx import TensorProto, helper, numpy_helper

TOOL = str(Path(sys.executable).parent / "iree-import-onnx")
WEIGHTS = numpy_helper.from_array(np.ones((2, 2, 4), np.float32), "w")


def refused(kind: str, length: int, stride: int = 4) -> str:
    """What the compiler says of a window of 4, "" where it compiles."""
    node = helper.make_node(kind, ["x", "w"] if kind == "Conv" else ["x"], ["y"], kernel_shape=[4], strides=[stride])
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, length])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, (length - 4) // stride + 1])
    graph = helper.make_graph([node], "one", [given], [made], [WEIGHTS] if kind == "Conv" else [])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    with tempfile.TemporaryDirectory() as name:
        onnx.save(model, f"{name}/m.onnx")
        subprocess.run([TOOL, "m.onnx", "-o", "m.mlir"], cwd=name, check=True)
        text = Path(name, "m.mlir").read_text()
    try:
        compile_str(
            text, input_type="onnx", target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"]
        )
    except CompilerToolError as error:
        return next(line for line in str(error).splitlines() if "error:" in line)[:150]
    return ""


ASKED = [
    ("MaxPool", 4, 4),
    ("MaxPool", 6, 1),
    ("MaxPool", 8, 4),
    ("MaxPool", 6, 4),
    ("AveragePool", 6, 4),
    ("Conv", 6, 4),
]
refusals = {
    f"{kind} of 4 over {length}, stride {stride}": refused(kind, length, stride) for kind, length, stride in ASKED
}
for what, refusal in refusals.items():
    print(f"{what}: {refusal or 'compiled'}")
sys.exit(int(any(refusals.values())))
