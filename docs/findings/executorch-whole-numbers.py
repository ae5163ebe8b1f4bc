"""ExecuTorch 1.4.1, portable kernels: remainders of whole numbers have the wrong sign, and the lowest by -1 kills the process.

`torch.remainder` has the sign of the divisor. Expected: -7 % 3 = 2 and 7 % -3 = -2. Got: -1 and 1, the sign of the dividend, as C's `%`
has it; of floating-point numbers it is right. Dividing the lowest int32 or int64 by -1, truncated, ends in SIGFPE, as in torch.
Found by `assay run edge --flow executorch-portable --filter 'Mod-*' --filter 'Div-*'`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import torch
from executorch.exir import to_edge
from executorch.runtime import Runtime


class Called(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return self.function(a, b)


def divided(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.div(a, b, rounding_mode="trunc")


def answer(
    function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], a: torch.Tensor, b: torch.Tensor
) -> list[float]:
    program = to_edge(torch.export.export(Called(function), (a, b))).to_executorch()
    (answered,) = Runtime.get().load_program(program.buffer).load_method("forward").execute((a, b))
    numbers: list[float] = answered.tolist()
    return numbers


if len(sys.argv) > 1:
    dtype = getattr(torch, sys.argv[1])
    answer(divided, torch.tensor([torch.iinfo(dtype).min], dtype=dtype), torch.tensor([-1], dtype=dtype))
    sys.exit(0)
wrong = 0
for dtype in (torch.float32, torch.int32, torch.int64):
    got = answer(torch.remainder, torch.tensor([-7, 7], dtype=dtype), torch.tensor([3, -3], dtype=dtype))
    print(f"remainders of {dtype}: {got}, expected [2, -2]")
    wrong += got != [2, -2]
for name in ("int32", "int64"):
    code = subprocess.run([sys.executable, __file__, name], capture_output=True).returncode
    print(f"the lowest {name} by -1: ends with {code}")
    wrong += code < 0
sys.exit(int(wrong > 0))
