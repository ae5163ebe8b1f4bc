"""IREE 3.13.0, vulkan-spirv on Mesa's lavapipe 22.3.6: a cast from float32 to float16 gives other numbers.

Expected: each number rounded to float16, as the same module for llvm-cpu gives it. Got: other numbers, all of 1 and of 20 of them and
4,032 of 4,096. Found by `assay run operators --flow iree-vulkan --filter 'cast_to_float16-*'`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from iree.compiler.tools import compile_str

TEXT = """
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xf16> {{
  %empty = tensor.empty() : tensor<{n}xf16>
  %y = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
    ins(%x : tensor<{n}xf32>) outs(%empty : tensor<{n}xf16>) {{
  ^bb0(%a: f32, %b: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  }} -> tensor<{n}xf16>
  return %y : tensor<{n}xf16>
}}
"""


def answer(text: str, target: str, device: str, x: Any) -> Any:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "m.vmfb").write_bytes(compile_str(text, target_backends=[target]))
        np.save(folder / "x.npy", x)
        words = ["iree-run-module", f"--device={device}", "--function=main", f"--module={folder / 'm.vmfb'}"]
        ends = [f"--input=@{folder / 'x.npy'}", f"--output=@{folder / 'y.npy'}"]
        subprocess.run([*words, *ends], check=True, env={**os.environ, "PATH": os.path.dirname(sys.executable)})
        return np.load(folder / "y.npy")


def main() -> int:
    tool = [Path(sys.executable).parent / "iree-run-module", "--list_devices"]
    if "vulkan://" not in subprocess.run(tool, capture_output=True, text=True, check=False).stdout:
        print("no Vulkan device here")
        return 77
    wrong = 0
    for count in (1, 20, 4096):
        x = np.linspace(-2.0, 2.0, count).astype(np.float32)
        expected = x.astype(np.float16)
        assert np.array_equal(answer(TEXT.format(n=count), "llvm-cpu", "local-sync", x), expected)
        got = answer(TEXT.format(n=count), "vulkan-spirv", "vulkan", x)
        print(
            f"{count} numbers: {int((got != expected).sum())} are wrong; the last is {got[-1]}, expected {expected[-1]}"
        )
        wrong += not np.array_equal(got, expected)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
