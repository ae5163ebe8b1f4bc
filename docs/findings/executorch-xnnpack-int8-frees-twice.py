"""ExecuTorch 1.4.1, XNNPACK in int8: a program of two delegates with a mean between them kills the process when it is destroyed.

Expected: an end with exit code 0, as in float. Got: right answers, and then "free(): double free detected" and SIGABRT, where the program
is let go of. Calibrated with rows of one value it is wrong, too: where the quantized
product is 0 there is another number in each process.
Found by `assay run regressions --flow executorch-xnnpack-static-int8-per-channel`: `tvm-mean-of-a-layer-normalization`.
"""

from __future__ import annotations

import subprocess
import sys

CALL = """
import tempfile, torch
from pathlib import Path
import executorch.kernels.quantized
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

class Normalized(torch.nn.Module):
    def forward(self, x):
        centred = x - x.mean(1, keepdim=True)
        return centred * torch.rsqrt((centred * centred).mean(1, keepdim=True) + 1e-5)

inputs = (torch.tensor([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]),)
model = torch.export.export(Normalized(), inputs).module()
if {int8}:
    prepared = prepare_pt2e(model, XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True)))
    prepared(*inputs)
    model = convert_pt2e(prepared)
lowered = to_edge_transform_and_lower(torch.export.export(model, inputs), partitioner=[XnnpackPartitioner()])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "normalized.pte")
    path.write_bytes(lowered.to_executorch().buffer)
    method = Runtime.get().load_program(path).load_method("forward")
    (answer,) = method.execute(inputs)
    print(bool((answer - model(*inputs)).abs().max() < 0.1), flush=True)
"""

ended = {}
for int8 in (False, True):
    done = subprocess.run([sys.executable, "-c", CALL.format(int8=int8)], capture_output=True, text=True)
    ended[int8] = done.returncode
    freed = [line for line in done.stderr.splitlines() if "free()" in line]
    print(f"int8: {int8}; right: {done.stdout.strip() or '-'}; exit code {done.returncode}; {''.join(freed)}")
    if done.returncode > 0:
        sys.exit(f"the script is broken: {done.stderr[-500:]}")
sys.exit(int(ended[True] != 0))
