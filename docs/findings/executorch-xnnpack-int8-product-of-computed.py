"""ExecuTorch 1.4.1, XNNPACK in int8: products and convolutions with weights that are computed, though of stored values alone, are wrong.

Expected: within some steps of int8, as the quantized program in torch gives it. Got: zeros, or whatever lay in memory, another number in
another call. Of the product the delegate computes both factors (right, where they are outputs themselves), and leaves it to the portable
kernels; the convolution sums with ones that the program makes, as an average with padding does. With stored ones it is right.
Found by `assay run regressions` on the static int8 flows of XNNPACK: `onnxruntime-product-scaled-by-rows` and others.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import executorch.kernels.quantized  # noqa: F401
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


class Summed(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv1d(x, torch.ones(1, 1, 3))


def is_wrong(model: torch.nn.Module, x: torch.Tensor, is_per_channel: bool) -> bool:
    config = get_symmetric_quantization_config(is_per_channel=is_per_channel)
    prepared = prepare_pt2e(torch.export.export(model, (x,)).module(), XNNPACKQuantizer().set_global(config))
    prepared(x)
    quantized = convert_pt2e(prepared)
    program = to_edge_transform_and_lower(torch.export.export(quantized, (x,)), partitioner=[XnnpackPartitioner()])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.pte")
        path.write_bytes(program.to_executorch().buffer)
        method = Runtime.get().load_program(path).load_method("forward")
        (answer,) = method.execute((x,))
        expected = quantized(x)
        print(f"{type(model).__name__}: expected {expected.tolist()}, got {answer.tolist()}")
        return bool((answer - expected).abs().max() > 1.0)


wrong = [
    is_wrong(Scaled(), torch.tensor([[3.0, 9.0]]), is_per_channel=True),
    is_wrong(Summed(), torch.tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]]), is_per_channel=False),
]
sys.exit(int(any(wrong)))
