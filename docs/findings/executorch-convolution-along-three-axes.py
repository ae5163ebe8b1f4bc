"""ExecuTorch 1.4.1: a convolution along three axes lowers without a word, and no kernel of its runtime takes it.

Expected: an answer, or a refusal when the program is lowered. Got: `method->execute() failed with error 0x12`, for the portable kernel of
`aten::convolution.out` takes one or two axes; XNNPACK's partitioner leaves it to that kernel. Found by
`assay run operators --flow executorch-portable --filter 'conv3d*'`.
"""

from __future__ import annotations

import sys

import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

CONVOLUTIONS = {1: torch.nn.Conv1d, 2: torch.nn.Conv2d, 3: torch.nn.Conv3d}


def ended(axes: int) -> str:
    """How a convolution along so many axes ends."""
    given = torch.ones(1, 2, *[5] * axes)
    program = to_edge_transform_and_lower(torch.export.export(CONVOLUTIONS[axes](2, 2, 3).eval(), (given,)))
    method = _load_for_executorch_from_buffer(program.to_executorch().buffer)
    try:
        return f"answered {tuple(method.forward((given,))[0].shape)}"
    except RuntimeError as error:
        return str(error).splitlines()[0]


endings = {axes: ended(axes) for axes in CONVOLUTIONS}
print(endings)
sys.exit(int(not endings[3].startswith("answered")))
