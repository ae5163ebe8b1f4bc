"""torch 2.13.0, Inductor, CPU: a whole number divided by zero kills the process, an index before the beginning is answered, the
arc tangent of -0 loses its sign.

Expected, as eager torch does: `div` of int32 or int64 by 0, truncated, raises ZeroDivisionError; `index_select` at -1, where no index
is negative, raises; atanh(-0.0) is -0.0. Got of the compiled ones: SIGFPE; the last row; 0.0 (seen on AVX2).
Found by `assay run edge --flow torch-inductor`: `Div-by-zero-*`, `Gather-index-one-before`, `Atanh-signed-zero`.
"""

from __future__ import annotations

import subprocess
import sys

CALL = """
import torch
def call(x, y):
    return {call}
call = torch.compile(call) if {compiled} else call
print(call({x}, {y}))
"""
DIVISION = "torch.div(x, y, rounding_mode='trunc')"
CASES = [
    ("7 / 0 in int32", DIVISION, "torch.tensor([7], dtype=torch.int32)", "torch.tensor([0], dtype=torch.int32)"),
    ("7 / 0 in int64", DIVISION, "torch.tensor([7])", "torch.tensor([0])"),
    ("index_select at -1", "torch.index_select(x, 0, y)", "torch.arange(3.0)", "torch.tensor([-1])"),
    ("atanh(-0)", "torch.atanh(x) + 0 * y", "torch.full((8,), -0.0)", "torch.full((8,), -0.0)"),
]
wrong = 0
for name, call, x, y in CASES:
    answers = []
    for compiled in (False, True):
        code = CALL.format(call=call, compiled=compiled, x=x, y=y)
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        last = (ended.stderr.strip().splitlines() or [""])[-1]
        answers.append(ended.stdout.strip() or (last[:60] if ended.returncode > 0 else f"ends with {ended.returncode}"))
    print(f"{name}: eager {answers[0]}; compiled {answers[1]}")
    wrong += answers[0] != answers[1]
sys.exit(int(wrong > 0))
