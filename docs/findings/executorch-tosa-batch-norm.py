"""ExecuTorch 1.4.1, Arm's TOSA delegate: a batch normalization whose mean and variance are parameters and not buffers cannot be lowered.

Expected: the same program as with buffers, as `torch.nn.BatchNorm2d` keeps them. Got: the partitioner takes it, and the pass that
folds it into the convolution before it reads them as buffers, finds None, and ends with "new(): data must be a sequence (got
NoneType)". Found by `assay check detector.onnx segmenter.onnx --flow executorch-arm-tosa`: all weights of a converted ONNX
file are parameters. Wants tosa-tools 2026.8.0 (`assay env build tosa`, and that environment's interpreter).
"""

from __future__ import annotations

import sys
import warnings

import torch
from executorch.backends.arm.tosa import TosaSpecification
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import to_edge_transform_and_lower

warnings.simplefilter("ignore")


class Normalized(torch.nn.Module):
    def __init__(self, parameters: bool) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3)
        self.scale, self.bias = (torch.nn.Parameter(torch.rand(4)) for _ in range(2))
        for name in ("mean", "variance"):
            if parameters:
                self.register_parameter(name, torch.nn.Parameter(torch.rand(4), requires_grad=False))
            else:
                self.register_buffer(name, torch.rand(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.convolution(x)
        return torch.nn.functional.batch_norm(y, self.mean, self.variance, self.scale, self.bias)


def ended(parameters: bool) -> str:
    program = torch.export.export(Normalized(parameters).eval(), (torch.rand(1, 3, 8, 8),))
    spec = TosaCompileSpec(TosaSpecification.create_from_string("TOSA-1.0+FP"))
    try:
        to_edge_transform_and_lower(program, partitioner=[TOSAPartitioner(spec)])
    except Exception as error:  # noqa: BLE001  whatever the lowering raises
        cause = error.__cause__ or error
        return f"{type(cause).__name__}: {cause}"
    return "lowered"


endings = {kind: ended(kind == "parameters") for kind in ("buffers", "parameters")}
for kind, ending in endings.items():
    print(f"mean and variance are {kind}: {ending}")
sys.exit(int(endings["parameters"] != "lowered"))
