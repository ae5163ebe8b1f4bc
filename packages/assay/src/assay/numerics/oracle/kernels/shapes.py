"""Reshape to a size below -1, which the standard does not have: numpy, and onnx.reference 1.23 with it, takes any negative
size for the one that is to be found, where ONNX Runtime refuses and OpenVINO 2026.4 answers with an empty tensor."""

from __future__ import annotations

import numpy as np

from assay.numerics.oracle.hooks import Call, Kernel, Values


def reshape(call: Call) -> Values | None:
    """None: onnx.reference does it. Raises ValueError for such a size."""
    given = call.input(1) if len(call.inputs) > 1 else call.attributes.get("shape")
    sizes = np.asarray(given if given is not None else ())
    if sizes.size and sizes.min() < -1:
        raise ValueError(f"no dimension can be {sizes.min()}: a size is 0 or more, or -1 for the one that is left")
    return None


SHAPES: dict[str, Kernel] = {"Reshape": reshape}
