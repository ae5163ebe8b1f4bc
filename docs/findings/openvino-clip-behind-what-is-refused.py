"""OpenVINO 2026.4.1: a Clip without bounds behind a node that the importer does not take kills the process (SIGSEGV).

Expected: the model is refused with the reason, as it is without the Clip ("wrap" is no mode of Pad that the importer knows). Got: SIGSEGV
in `read_model`, or while it is compiled. Found by `assay fuzz --flow openvino-f32 --seed 291952` (generator qdq-graphs).
"""

from __future__ import annotations

import subprocess
import sys

MODEL = """<ir_version: 10, opset_import: ["" : 22]>
g (float[5] x) => (float[7] y) <int64[2] pads = {1, 1}, float zero = {0}> { a = Pad <mode = "wrap"> (x, pads, zero) y = LAST (a) }"""
RUN = """
import sys
import openvino
from onnx import parser

core = openvino.Core()
core.compile_model(core.read_model(parser.parse_model(sys.argv[1]).SerializeToString()), "CPU")
"""
ended = 0
for last in ("Relu", "Clip"):
    command = [sys.executable, "-c", RUN, MODEL.replace("LAST", last)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ended = done.returncode
    print(
        f"Pad and {last}:", f"WRONG, ended by signal {-ended}" if ended < 0 else "compiled" if not ended else "refused"
    )
sys.exit(int(ended < 0))
