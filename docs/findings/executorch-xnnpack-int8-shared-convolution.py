"""ExecuTorch 1.4.1, XNNPACK in static int8: a convolution that is called twice makes a program that does not load.

Expected: the answers of the quantized program in torch. Got: "Init failed for backend XnnpackBackend: 0x1" ("Failed to create convolution
node: xnn_status_invalid_parameter"): XNNPACK's quantizer quantizes the weights of the first call alone, and the delegate takes the second
one, of int8 and weights in float32, all the same. With a copy of the convolution for each call it loads. Found by
`assay run models --flow executorch-xnnpack-static-int8-per-tensor`: `detector-static`, whose heads read each level of a pyramid.
"""

from __future__ import annotations

import sys
import tempfile
from copy import deepcopy
from pathlib import Path

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


class Heads(torch.nn.Module):
    def __init__(self, shared: bool) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(2, 2, 1)
        self.second = self.first if shared else deepcopy(self.first)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.first(x), self.second(y)


def check(shared: bool) -> str:
    torch.manual_seed(0)
    inputs = (torch.rand(1, 2, 4, 4), torch.rand(1, 2, 4, 4))
    prepared = prepare_pt2e(
        torch.export.export(Heads(shared), inputs).module(),
        XNNPACKQuantizer().set_global(get_symmetric_quantization_config()),
    )
    prepared(*inputs)
    quantized = convert_pt2e(prepared)
    expected = quantized(*inputs)
    lowered = to_edge_transform_and_lower(torch.export.export(quantized, inputs), partitioner=[XnnpackPartitioner()])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.pte"
        path.write_bytes(lowered.to_executorch().buffer)
        try:
            answers = Runtime.get().load_program(path).load_method("forward").execute(inputs)
        except RuntimeError as error:
            return str(error).splitlines()[0]
    return f"off by {max(float((a - b).abs().max()) for a, b in zip(answers, expected, strict=True)):.2g}"


shown = {shared: check(shared) for shared in (True, False)}
print(f"one convolution: {shown[True]}; two: {shown[False]}")
sys.exit(int("0x" in shown[True]))
