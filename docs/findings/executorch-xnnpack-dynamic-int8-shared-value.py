"""ExecuTorch 1.4.1, XNNPACK: a value quantized while running that a 1x1 and a 3x3 convolution read makes the latter wrong.

Expected: within a step of int8 of the float convolution (about 0.01). Got: off by half of the largest value. Alone it is right.
"""

import sys
import tempfile
from pathlib import Path

import torch
from executorch.backends.xnnpack.partition.config.xnnpack_config import ConfigPrecisionType
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


class Branches(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.point, self.window = torch.nn.Conv2d(16, 8, 1), torch.nn.Conv2d(16, 8, 3, padding=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.point(x), self.window(x)


torch.manual_seed(0)
net, x = Branches().eval(), torch.randn(1, 16, 9, 9)
config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)
prepared = prepare_pt2e(torch.export.export(net, (x,)).module(), XNNPACKQuantizer().set_global(config))
prepared(x)
program = torch.export.export(convert_pt2e(prepared), (x,))
dynamic = XnnpackPartitioner(config_precisions=ConfigPrecisionType.DYNAMIC_QUANT, per_op_mode=True)
lowered = to_edge_transform_and_lower(program, partitioner=[dynamic, XnnpackPartitioner()]).to_executorch()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "branches.pte")
    path.write_bytes(lowered.buffer)
    results = Runtime.get().load_program(path).load_method("forward").execute([x])
wrong = 0
for name, got, expected in zip(("1x1", "3x3"), results, net(x), strict=True):
    off, largest = (got - expected).abs().max(), expected.abs().max()
    print(f"{name}: off by {off:.4f}, the largest value is {largest:.4f}")
    wrong += bool(off > largest / 10)
sys.exit(int(wrong > 0))
