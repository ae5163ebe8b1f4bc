"""torch 2.13.0, Inductor: the gradient of an average pooling is too small where `ceil_mode` lets the last window reach over the edge.

The last window holds what is left of the row, and its average divides by that many, here by 1: the forward pass does, compiled as
well as eager. The compiled backward pass divides by the whole window: `avg_pool2d_backward` takes `count_include_pad` for the answer, which
speaks of padding, and here is none. Expected: a gradient of 1 for the last element. Got: 0.5, 0.25 and 0.125 along one, two and three axes.
With `count_include_pad=False` it is right. Found by `assay run gradients --flow torch-inductor --filter 'avg_pool1d*'`.
"""

from __future__ import annotations

import sys

import torch
from torch.nn import functional

POOLS = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)
wrong = 0
for axes, pool in enumerate(POOLS, start=1):
    for counted in (True, False):

        def average(x: torch.Tensor) -> torch.Tensor:
            return pool(x, 2, stride=2, ceil_mode=True, count_include_pad=counted)  # noqa: B023

        gradients = []
        for call in (average, torch.compile(average)):
            x = torch.zeros(1, 1, *[3] * axes, requires_grad=True)
            call(x).flatten()[-1].backward()
            gradients.append(float(x.grad.flatten()[-1]))  # type: ignore[union-attr]
        expected, got = gradients
        print(f"{axes} axes, count_include_pad={counted}: eager {expected}, compiled {got}")
        wrong += got != expected
sys.exit(int(wrong > 0))
