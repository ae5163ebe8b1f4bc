"""onnx 1.23.2: inference of shapes ends the process (SIGSEGV) at an EyeLike with `dtype` whose input has no known shape.

Expected: an output of that type and of no known shape, as without `dtype`. The input has none behind an operator of another domain, or
behind one whose operands do not fit, which inference leaves alone. `check_model(model, full_check=True)` infers shapes as well, so that a
file which a service checks ends the service.
"""

from __future__ import annotations

import subprocess
import sys

MODEL = """<ir_version: 8, opset_import: ["" : 13, "other" : 1]>
g (float[2,3] x) => (double[2,3] y) { a = other.Operator (x) y = EyeLike %s (a) }"""
RUN = """
import sys
import onnx
from onnx import parser

onnx.shape_inference.infer_shapes(parser.parse_model(sys.argv[1]))
"""
ended = 0
for attribute in ("", "<dtype = 11>"):
    done = subprocess.run([sys.executable, "-c", RUN, MODEL % attribute], check=False, capture_output=True)
    print(f"EyeLike {attribute}:", f"WRONG, ended by signal {-done.returncode}" if done.returncode < 0 else "inferred")
    ended = min(ended, done.returncode)
sys.exit(int(ended < 0))
