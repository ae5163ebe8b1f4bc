"""Where the standard does not say what a transposed convolution gives, the conversion does not choose."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from assay.errors import Unsupported
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.operators.convolution import conv_transpose


def _given(**attributes: Any) -> tuple[int, ...]:
    node = Node("ConvTranspose", "", "up", 22, ("x", "w"), ("y",), attributes)
    return tuple(conv_transpose(node, torch.ones(1, 1, 3), torch.ones(1, 1, 2)).shape)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_negative_padding_is_refused(auto_pad: str) -> None:
    with pytest.raises(Unsupported, match="asks for negative padding"):
        _given(auto_pad=auto_pad, strides=[3])


@pytest.mark.parametrize(
    ("attributes", "length"),
    [
        ({"auto_pad": "SAME_UPPER", "strides": [2]}, 6),
        ({"auto_pad": "SAME_LOWER", "strides": [3], "dilations": [2]}, 9),
        ({"strides": [3]}, 8),
    ],
)
def test_other_padding_is_not(attributes: dict[str, Any], length: int) -> None:
    assert _given(**attributes) == (1, 1, length)
