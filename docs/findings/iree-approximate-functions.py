"""IREE 3.13.0, llvm-cpu: functions of float32 are approximated by polynomials that are off by ten roundings and more.

Expected: about as near as the C library's, two roundings or three. Got: the figures that it prints; atan2 of the suite of operators leaves
the tolerance that is derived for it. Found by `assay run operators --flow iree-llvm-cpu --filter '*-float32-smoke-*'`.
"""

from __future__ import annotations

import sys

import iree.runtime
import numpy as np
from iree.compiler.tools import compile_str

ALLOWED = 10
"""Roundings of float32: generous, a correct library needs two or three."""
FUNCTIONS = {
    "exp": (np.exp, -3.0, 3.0),
    "expm1": (np.expm1, -3.0, 3.0),
    "atan": (np.arctan, -3.0, 3.0),
    "tanh": (np.tanh, -3.0, 3.0),
    "sin": (np.sin, -3.0, 3.0),
    "log": (np.log, 0.1, 9.0),
}


def of(name: str, x: np.ndarray) -> np.ndarray:
    text = f"""func.func @main(%x: tensor<{x.size}xf32>) -> tensor<{x.size}xf32> {{
      %y = math.{name} %x : tensor<{x.size}xf32>
      return %y : tensor<{x.size}xf32>
    }}"""
    module = compile_str(text, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"])
    loaded = iree.runtime.load_vm_flatbuffer(module, driver="local-sync")
    return np.asarray(loaded.main(x))


worst = 0.0
for name, (exact, low, high) in FUNCTIONS.items():
    x = np.linspace(low, high, 4001, dtype=np.float32)
    expected = exact(x.astype(np.float64))
    off = np.abs(of(name, x) - expected) / np.spacing(np.abs(expected).astype(np.float32))
    print(f"{name}: off by up to {off.max():.1f} roundings, at {x[off.argmax()]:.6g}")
    worst = max(worst, float(off.max()))
sys.exit(int(worst > ALLOWED))
