"""GatherElements (ONNX 13) where the indices span less than the data on the other axes: onnx.reference 1.23 cannot reshape
what it gathers there.
"""

from __future__ import annotations

import numpy as np

from assay.numerics.oracle.hooks import Call, Kernel, Values


def gather_elements(call: Call) -> Values | None:
    """out[i][j] = data[indices[i][j]][j] along axis 0, and so on; of the other axes the first entries are read."""
    data, indices = call.inputs[:2]
    axis = int(call.attributes.get("axis", 0)) % max(1, data.ndim)
    if data.ndim != indices.ndim or indices.dtype.kind != "i":
        return None
    places = list(np.ogrid[tuple(slice(0, size) for size in indices.shape)])
    size = data.shape[axis]
    places[axis] = np.where(indices < 0, indices + size, indices)
    return (data[tuple(places)],)


GATHERING: dict[str, Kernel] = {"GatherElements": gather_elements}
