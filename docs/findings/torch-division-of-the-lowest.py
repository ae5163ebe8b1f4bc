"""torch 2.13.0, CPU: dividing the lowest int32 or int64 by -1, truncated, kills the process (SIGFPE).

Expected: a number (the lowest again, as `rounding_mode="floor"` says) or an error. Got: no process any more. ONNX's Div of whole
numbers is this division.
Found by `assay run edge --flow torch-eager --filter 'Div-*'`.
"""

from __future__ import annotations

import subprocess
import sys

DIVIDE = """
import torch
a = torch.tensor([torch.iinfo(torch.{dtype}).min], dtype=torch.{dtype})
torch.div(a, torch.full_like(a, -1), rounding_mode="{mode}")
"""
died = 0
for dtype in ("int32", "int64"):
    for mode in ("floor", "trunc"):
        ended = subprocess.run([sys.executable, "-c", DIVIDE.format(dtype=dtype, mode=mode)], capture_output=True)
        print(f"{dtype} {mode}: ends with {ended.returncode}")
        died += ended.returncode < 0
sys.exit(int(died > 0))
