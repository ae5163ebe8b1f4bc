"""OpenVINO 2026.4.1, CPU: compiling a Gather whose indices are an input of no elements kills the process (SIGFPE).

Expected: an answer of shape [0, 3]. Got: signal 8 while it compiles. Found by
`assay run edge --flow openvino-f32 --filter Gather-empty-indices`. It is compiled in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys

import openvino
from onnx import TensorProto, helper

if len(sys.argv) > 1:
    graph = helper.make_graph(
        [helper.make_node("Gather", ["x", "i"], ["y"], axis=0)],
        "one",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3]),
            helper.make_tensor_value_info("i", TensorProto.INT64, [0]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [0, 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    core = openvino.Core()
    core.compile_model(core.read_model(model.SerializeToString()), "CPU")
    sys.exit()
done = subprocess.run([sys.executable, __file__, "compile"], capture_output=True, text=True, check=False)
got = f"killed by signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
print(f"openvino {openvino.__version__}: {got}")
sys.exit(1 if done.returncode else 0)
