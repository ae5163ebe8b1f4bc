"""OpenVINO 2026.4.1, CPU: Gather answers 0 for indices outside of the tensor, ScatterElements kills the process.

Expected: "It is an error if any of the index values are out of bounds" (ONNX Gather, GatherElements, ScatterElements). Got:
zeros from Gather, a segmentation fault from ScatterElements at -4. (With one thread the others raise nothing either: see
openvino-one-thread-swallows-errors.py.) Found by `assay run edge --flow openvino-f32 --filter '*-index-*'`. Each runs in a
process of its own.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import openvino
from onnx import TensorProto, helper

OPERATORS = ("Gather", "GatherElements", "ScatterElements")


def run(operator: str, index: int) -> None:
    """One node over [1, 2, 3], every index `index`; two threads, since one swallows errors."""
    floats, whole = TensorProto.FLOAT, TensorProto.INT64
    names = {"x": floats, "i": whole} | ({"u": floats} if operator.startswith("Scatter") else {})
    graph = helper.make_graph(
        [helper.make_node(operator, list(names), ["y"])],
        "one",
        [helper.make_tensor_value_info(name, kind, [3]) for name, kind in names.items()],
        [helper.make_tensor_value_info("y", floats, [3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_NUM_THREADS": 2})
    feeds = {"x": np.array([1, 2, 3], np.float32), "i": np.full(3, index), "u": np.array([7, 8, 9], np.float32)}
    print(compiled([feeds[name] for name in names])[0].tolist())


if len(sys.argv) > 1:
    run(sys.argv[1], int(sys.argv[2]))
    sys.exit()
print("openvino", openvino.__version__)
wrong = 0
for operator in OPERATORS:
    for index in (3, -4):
        done = subprocess.run(
            [sys.executable, __file__, operator, str(index)], capture_output=True, text=True, check=False
        )
        died, refused = done.returncode < 0, done.returncode == 1
        got = f"killed by signal {-done.returncode}" if died else "an error" if refused else done.stdout.strip()
        wrong += not refused
        print(f"{operator:15} of 3 elements at {index:2}: expected an error, got {got}{'' if refused else '  WRONG'}")
sys.exit(1 if wrong else 0)
