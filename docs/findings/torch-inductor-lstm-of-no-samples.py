"""torch 2.13.0, Inductor, CPU: an LSTM that is fed no samples kills the process.

Expected, as eager torch and the exported program do: an answer of shape (2, 0, 1). Got of the compiled program: SIGFPE in
aten.mkldnn_rnn_layer.
Found by `assay run regressions --flow torch-inductor`: `onnxruntime-lstm-of-no-samples`.
"""

from __future__ import annotations

import subprocess
import sys

CALL = """
import torch
program = torch.export.export(torch.nn.LSTM(1, 1).eval(), (torch.ones(2, 0, 1),)).module()
program = torch.compile(program) if {compiled} else program
with torch.no_grad():
    print(tuple(program(torch.ones(2, 0, 1))[0].shape))
"""

answers = []
for compiled in (False, True):
    ended = subprocess.run([sys.executable, "-c", CALL.format(compiled=compiled)], capture_output=True, text=True)
    last = (ended.stderr.strip().splitlines() or [""])[-1]
    answers.append(ended.stdout.strip() or (last[:60] if ended.returncode > 0 else f"ends with {ended.returncode}"))
print(f"exported: {answers[0]}; compiled: {answers[1]}")
sys.exit(int(answers[0] != answers[1]))
