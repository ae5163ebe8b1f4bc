"""ExecuTorch 1.4.1, XNNPACK: a PReLU of two axes ends the lowering in an AssertionError.

Expected: it is delegated, or left to another kernel, for the partitioner took it. Got: `Attempting to convert non-NHWC compatible node to
NHWC`: the pass that turns layouts wants four axes of whatever `prelu` it meets. Found by
`assay run operators --flow executorch-xnnpack --filter 'prelu*'`.
"""

from __future__ import annotations

import sys
import warnings

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower

warnings.simplefilter("ignore")


def lowered(*shape: int) -> str:
    """How it ends."""
    program = torch.export.export(torch.nn.PReLU(shape[1]).eval(), (torch.ones(shape),))
    try:
        to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    except Exception as error:  # noqa: BLE001  the passes wrap it in another
        return str(error.__cause__ or error).splitlines()[0]
    return "lowered"


four, two = lowered(5, 4, 2, 2), lowered(5, 4)
print(f"of four axes: {four}; of two: {two}")
sys.exit(int(two != four))
