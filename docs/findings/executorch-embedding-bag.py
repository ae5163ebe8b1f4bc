"""ExecuTorch 1.4.1: an EmbeddingBag lowers without a word and cannot be loaded: no kernel for `aten::_embedding_bag.out`.

Expected: a refusal while lowering, or an answer. Got: an artifact whose loading ends in `Failed to load method forward, error: 0x14`
(`Missing operator: aten::_embedding_bag.out`). Found by `assay run models --flow executorch-portable` on a recommender.
"""

from __future__ import annotations

import sys
import warnings

import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

warnings.simplefilter("ignore")


class Bag(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(10, 4, mode="sum")

    def forward(self, items: torch.Tensor) -> torch.Tensor:
        return self.bag(items)


program = torch.export.export(Bag().eval(), (torch.zeros(2, 3, dtype=torch.int64),))
artifact = to_edge_transform_and_lower(program).to_executorch()
try:
    Runtime.get().load_program(bytes(artifact.buffer)).load_method("forward")
except RuntimeError as error:
    print(f"lowered, and then: {error}")
    sys.exit(1)
print("lowered and loaded")
