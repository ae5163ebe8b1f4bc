"""ONNX Runtime 1.31.1, CPU: the optimized model that it writes with weights in a file of their own is not valid where a branch of
an If inside a branch has a Constant: it comes out twice, as a node and as an initializer of the same name.

Expected: what `optimized_model_filepath` wrote can be loaded again. Got: "Graph must be in single static assignment (SSA)
form". As a single file the same graph loads. Found by `assay check` on voice activity detectors of a public package.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import onnx
import onnxruntime

MODEL = """<ir_version: 10, opset_import: ["" : 21]>
g (bool[] c, float[3] x) => (float[3] y) {
    y = If (c) <
        then_branch = outer () => (float[3] p) {
            p = If (c) <
                then_branch = inner () => (float[3] q) { w = Constant <value = float[1] {1.0}> () q = Add (x, w) },
                else_branch = other () => (float[3] r) { r = Relu (x) }
            >
        },
        else_branch = last () => (float[3] s) { s = Neg (x) }
    >
}"""

folder = Path(tempfile.mkdtemp())
onnx.save(onnx.parser.parse_model(MODEL), folder / "model.onnx")
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.optimized_model_filepath = str(folder / "optimized.onnx")
options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "optimized.data")
onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
print("onnxruntime", onnxruntime.__version__, "loads the model and writes the optimized one")
again = onnxruntime.SessionOptions()
again.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
try:
    onnxruntime.InferenceSession(str(folder / "optimized.onnx"), again)
except Exception as error:  # noqa: BLE001
    print("and cannot load it:", str(error)[:300])
    sys.exit(1)
print("and loads it again: fixed")
