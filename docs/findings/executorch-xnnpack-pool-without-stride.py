"""ExecuTorch 1.4.1, XNNPACK partitioner: a max-pooling without a stride of its own ends in IndexError.

Expected: `max_pool2d(x, 2)` is delegated like `max_pool2d(x, 2, 2)`, which it means, or is left to the portable kernels. Got:
`IndexError: tuple index out of range`, where `MaxPool2dConfig.check_constraints` reads `node.args[2]`: torch.export leaves the
argument out. Found by `assay run models --flow executorch-xnnpack` on a U-Net of four levels.
"""

from __future__ import annotations

import sys
import warnings

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower

warnings.simplefilter("ignore")


class Pool(torch.nn.Module):
    def __init__(self, *stride: int) -> None:
        super().__init__()
        self.stride = stride

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_pool2d(x, 2, *self.stride)


def lowered(*stride: int) -> str:
    """How it ends."""
    program = torch.export.export(Pool(*stride).eval(), (torch.ones(1, 3, 8, 8),))
    try:
        to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    except IndexError as error:
        return f"IndexError: {error}"
    return "lowered"


with_stride, without = lowered(2), lowered()
print(f"with a stride: {with_stride}; without: {without}")
sys.exit(int(without != with_stride))
