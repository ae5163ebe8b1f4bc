"""ONNX Runtime 1.31.1, CPU: the optimized model that it writes for a Loop over an optional sequence is not valid.

Expected: what `optimized_model_filepath` wrote can be loaded again. Got: "Graph must be in single static assignment (SSA)
form". Found by `assay run onnx-node --flow onnxruntime --filter test_loop16_seq_none`: every case is saved, loaded, run.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import onnxruntime
from onnx.backend.test.loader import load_model_tests

folder = Path(tempfile.mkdtemp())
case = next(candidate for candidate in load_model_tests(kind="node") if candidate.name == "test_loop16_seq_none")
(folder / "model.onnx").write_bytes(case.model.SerializeToString())
options = onnxruntime.SessionOptions()
options.optimized_model_filepath = str(folder / "optimized.onnx")
options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "optimized.data")
options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
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
