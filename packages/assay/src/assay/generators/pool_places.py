"""Windows of MaxPool with more than one largest element."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from onnx import helper

from assay.ports import Tensor


def equal_maxima(node: Any, values: Mapping[str, Tensor]) -> bool:
    """Whether any window has two. What is padded is no element."""
    x, most = values.get(node.input[0]), values.get(node.output[0])
    if x is None or most is None:
        return False
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    kernel, sizes, windows = attributes["kernel_shape"], x.shape[2:], most.shape[2:]
    strides, dilations = (attributes.get(name, [1] * len(kernel)) for name in ("strides", "dilations"))
    begins = attributes.get("pads", [0] * 2 * len(kernel))[: len(kernel)]
    way = attributes.get("auto_pad", b"NOTSET").decode()
    if way.startswith("SAME"):
        reach = [(width - 1) * step + 1 for width, step in zip(kernel, dilations, strict=True)]
        whole = [
            max(0, (count - 1) * stride + wide - size)
            for count, stride, wide, size in zip(windows, strides, reach, sizes, strict=True)
        ]
        begins = [(total + (way == "SAME_LOWER")) // 2 for total in whole]
    array = np.zeros(most.shape, np.int64)
    for offset in product(*map(range, kernel)):
        places = [
            np.arange(count) * stride - begin + at * step
            for count, stride, begin, at, step in zip(windows, strides, begins, offset, dilations, strict=True)
        ]
        inside = [(place >= 0) & (place < size) for place, size in zip(places, sizes, strict=True)]
        clipped = [np.clip(place, 0, size - 1) for place, size in zip(places, sizes, strict=True)]
        at_offset = x[(slice(None), slice(None), *np.ix_(*clipped))]
        array += (at_offset == most) & reduce(np.logical_and.outer, inside)
    return bool((array > 1).any())
