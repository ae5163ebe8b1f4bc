"""The Open Inference Protocol, version 2, with tensors as JSON. https://github.com/kserve/open-inference-protocol"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.endpoints.connection import Connection
from assay.errors import EndpointBroke, Unsupported, UsageError
from assay.ports import Tensor

_TYPES = {
    "BOOL": "bool",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "FP32": "float32",
    "FP64": "float64",
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}


class TensorService:
    """One model of a server."""

    def __init__(self, connection: Connection, model: str) -> None:
        if not model:
            raise UsageError(f"{connection.address}: which of its models? choose with --option model=NAME")
        self._connection, self._path = connection, f"/models/{model}"
        self.metadata: dict[str, Any] = connection.get(self._path)

    def infer(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Every output by name. Raises Unsupported for a type that JSON does not carry."""
        inputs = [
            {
                "name": name,
                "shape": list(array.shape),
                "datatype": _datatype(name, array),
                "data": array.ravel().tolist(),
            }
            for name, array in tensors.items()
        ]
        body = self._connection.post(self._path + "/infer", {"inputs": inputs})
        try:
            return {one["name"]: _array(one) for one in body["outputs"]}
        except (KeyError, TypeError, ValueError) as error:
            raise EndpointBroke(f"{self._connection.address} gives outputs that cannot be read ({error})") from None


def _datatype(name: str, array: Tensor) -> str:
    if str(array.dtype) not in _NAMES:
        raise Unsupported(f"input '{name}' is {array.dtype}: the protocol carries {', '.join(_NAMES)} as JSON")
    return _NAMES[str(array.dtype)]


def _array(said: Mapping[str, Any]) -> Tensor:
    return np.array(said["data"], _TYPES[said["datatype"]]).reshape(said["shape"])
