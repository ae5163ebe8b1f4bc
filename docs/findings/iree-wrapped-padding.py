"""IREE 3.13.0, llvm-cpu: a Pad with mode "wrap" of 32 elements is not compiled within 30 s of processor time.

Expected: Pad-19 defines `wrap`, and its compilation ends. Got: no end; the compiler is stopped after 30 s of its processor time. Found by
the fuzzer (seed 2713, generator used-engines, case 5, *timeout*). The suite of regressions has no case of it, which would take its limit
in each run.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from onnx import parser

LIMIT_S = 30
GRAPH = """<ir_version: 10, opset_import: ["" : 21]>
  g (float[4,2,4] x) => (float[4,2,6] y) <int64[6] ends = {0,0,2,0,0,0}> { y = Pad <mode = "wrap"> (x, ends) }"""
TOOLS = Path(sys.executable).parent
TARGET = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))


with tempfile.TemporaryDirectory() as name:
    onnx.save(parser.parse_model(GRAPH), f"{name}/m.onnx")
    subprocess.run([TOOLS / "iree-import-onnx", "m.onnx", "-o", "m.mlir"], cwd=name, check=True)
    command = [TOOLS / "iree-compile", "m.mlir", *TARGET, "-o", "m.vmfb"]
    done = subprocess.run(command, cwd=name, preexec_fn=limited, capture_output=True, check=False)
print(f"iree-compile ended with {done.returncode}, expected 0{'  WRONG' if done.returncode else ''}")
sys.exit(int(done.returncode != 0))
