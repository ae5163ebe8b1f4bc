"""ExecuTorch 1.4.1, XNNPACK in int8: a matrix product of a value of the input and one that is computed of stored values is wrong.

Expected: within some steps of int8, as the quantized program in torch gives it. Got: zeros, or numbers of 1e-43. The delegate computes both
factors (right, where they are outputs themselves), and the product is left to the portable kernels.
Found by `assay run regressions --flow executorch-xnnpack-static-int8-per-channel`: `onnxruntime-product-scaled-by-rows`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weights", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        self.register_buffer("scales", torch.tensor([[0.5], [4.0]]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * 1.0) @ (self.weights * self.scales)


inputs = (torch.tensor([[3.0, 9.0]]),)
config = get_symmetric_quantization_config(is_per_channel=True)
prepared = prepare_pt2e(torch.export.export(Scaled(), inputs).module(), XNNPACKQuantizer().set_global(config))
prepared(*inputs)
quantized = convert_pt2e(prepared)
program = to_edge_transform_and_lower(torch.export.export(quantized, inputs), partitioner=[XnnpackPartitioner()])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "scaled.pte")
    path.write_bytes(program.to_executorch().buffer)
    (answer,) = Runtime.get().load_program(path).load_method("forward").execute(inputs)
expected = quantized(*inputs)
print(f"expected {expected.tolist()}, got {answer.tolist()}")
sys.exit(int((answer - expected).abs().max() > 1.0))
