"""ExecuTorch 1.4.1, XNNPACK: weights that are computed or an input, quantized by channel, kill the process when the program runs.

Expected, as the quantized program in torch does: an answer. Got: SIGABRT, for the kernel of quantize_per_channel takes scales in double
alone, and what XNNPACK's quantizer and convert_pt2e write has them in float. Weights that the program stores are folded before, and per
tensor it is right.
Found by `assay run regressions --flow executorch-xnnpack-static-int8-per-channel`: `onnxruntime-lstm-clip` and others.
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

class Product(torch.nn.Module):
    def forward(self, x, w):
        return torch.nn.functional.linear(x, w)

inputs = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 2.0], [3.0, -4.0]])
config = get_symmetric_quantization_config(is_per_channel={by_channel})
prepared = prepare_pt2e(torch.export.export(Product(), inputs).module(), XNNPACKQuantizer().set_global(config))
prepared(*inputs)
quantized = convert_pt2e(prepared)
lowered = to_edge_transform_and_lower(torch.export.export(quantized, inputs), partitioner=[XnnpackPartitioner()])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "product.pte")
    path.write_bytes(lowered.to_executorch().buffer)
    (answer,) = Runtime.get().load_program(path).load_method("forward").execute(inputs)
    print(bool((answer - quantized(*inputs)).abs().max() < 0.1))
"""

ended = {}
for by_channel in (False, True):
    done = subprocess.run([sys.executable, "-c", CALL.format(by_channel=by_channel)], capture_output=True, text=True)
    ended[by_channel] = done.returncode
    kernel = [line for line in done.stderr.splitlines() if "assert failed" in line]
    print(
        f"by channel: {by_channel}; right: {done.stdout.strip() or '-'}; exit code {done.returncode}; {''.join(kernel)}"
    )
    if done.returncode > 0:
        sys.exit(f"the script is broken: {done.stderr[-500:]}")
sys.exit(int(ended[True] != 0))
