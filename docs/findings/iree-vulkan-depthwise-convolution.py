"""IREE 3.13.0, vulkan-spirv on Mesa's lavapipe 22.3.6: a depthwise convolution leaves a part of its output unwritten.

Expected: the same module for llvm-cpu gives the convolution to 1e-6. Got: off by about 11, with 6 to 44 percent of the
output exactly 0, by the number of channels; an ordinary convolution of the same size is right. Compiled for the target
valhall it is right with 16 channels and wrong with 4: it goes with the size of a subgroup. Found by
`assay check segmenter.onnx --flow iree-vulkan` and cut down node by node.
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
func.func @main(%x: tensor<1x{c}x34x34xf32>, %w: tensor<{c}x3x3xf32>) -> tensor<1x{c}x32x32xf32> {{
  %empty = tensor.empty() : tensor<1x{c}x32x32xf32>
  %zero = arith.constant 0.0 : f32
  %out = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x{c}x32x32xf32>) -> tensor<1x{c}x32x32xf32>
  %y = linalg.depthwise_conv_2d_nchw_chw {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
    ins(%x, %w : tensor<1x{c}x34x34xf32>, tensor<{c}x3x3xf32>) outs(%out : tensor<1x{c}x32x32xf32>) -> tensor<1x{c}x32x32xf32>
  return %y : tensor<1x{c}x32x32xf32>
}}
"""


def answer(text: str, target: str, device: str, x: Any, w: Any) -> Any:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "m.vmfb").write_bytes(compile_str(text, target_backends=[target]))
        np.save(folder / "x.npy", x)
        np.save(folder / "w.npy", w)
        words = ["iree-run-module", f"--device={device}", "--function=main", f"--module={folder / 'm.vmfb'}"]
        ends = [f"--input=@{folder / 'x.npy'}", f"--input=@{folder / 'w.npy'}", f"--output=@{folder / 'y.npy'}"]
        subprocess.run([*words, *ends], check=True, env={**os.environ, "PATH": os.path.dirname(sys.executable)})
        return np.load(folder / "y.npy")


def main() -> int:
    tool = [Path(sys.executable).parent / "iree-run-module", "--list_devices"]
    if "vulkan://" not in subprocess.run(tool, capture_output=True, text=True, check=False).stdout:
        print("no Vulkan device here")
        return 77
    wrong = 0
    for channels in (4, 16):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((1, channels, 34, 34)).astype(np.float32)
        w = rng.standard_normal((channels, 3, 3)).astype(np.float32)
        text = TEXT.format(c=channels)
        expected = answer(text, "llvm-cpu", "local-sync", x, w)
        got = answer(text, "vulkan-spirv", "vulkan", x, w)
        error = float(np.abs(got - expected).max())
        print(
            f"{channels} channels: largest error {error:.3g}, {100 * float((got == 0).mean()):.0f} % of the output is 0"
        )
        wrong += error > 1e-3
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
