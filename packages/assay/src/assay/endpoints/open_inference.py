"""The Open Inference Protocol, version 2, with tensors as JSON. https://github.com/kserve/open-inference-protocol"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from assay.core.note import noted
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.endpoints.connection import Connection
from assay.endpoints.readable import UnreadableAnswer, readable
from assay.errors import Unsupported, UsageError
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
_PROTOCOL = "the Open Inference Protocol"


class Metadata(msgspec.Struct):
    """What the server says of the model."""

    platform: str | None = None
    versions: list[str | int] | None = None


class _Output(msgspec.Struct):
    name: str
    datatype: str
    shape: list[Annotated[int, Meta(ge=0, lt=1 << 53)]]
    data: list[Any]


class _Answer(msgspec.Struct):
    outputs: list[_Output]


class TensorService:
    """One model of a server."""

    def __init__(self, connection: Connection, model: str) -> None:
        if not model:
            raise UsageError(noted(EndpointCode.WHICH_MODEL, address=connection.address))
        self._connection, self._path = connection, f"/models/{model}"
        with readable(connection.address, _PROTOCOL):
            self.metadata = msgspec.convert(connection.get(self._path), Metadata)

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
        with readable(self._connection.address, _PROTOCOL):
            outputs = msgspec.convert(body, _Answer).outputs
            if len({output.name for output in outputs}) < len(outputs):
                raise UnreadableAnswer(noted(EndpointCode.OUTPUTS_OF_ONE_NAME))
            return {output.name: _array(output, at) for at, output in enumerate(outputs)}


def _datatype(name: str, array: Tensor) -> str:
    if str(array.dtype) not in _NAMES:
        raise Unsupported(noted(EndpointCode.NO_JSON_OF, input=name, dtype=str(array.dtype), known=tuple(_NAMES)))
    return _NAMES[str(array.dtype)]


def _array(output: _Output, at: int) -> Tensor:
    """`data` is flat, or nested as the shape is. Raises UnreadableAnswer for what does not fit its type and shape."""
    if output.datatype not in _TYPES:
        raise UnreadableAnswer(noted(EndpointCode.OUTPUT_TYPE, number=at, type=output.datatype))
    dtype = np.dtype(_TYPES[output.datatype])
    try:
        flat = np.array(output.data, object).ravel().tolist()
        with np.errstate(over="ignore"):  # what is beyond float32 is infinite there
            return np.array(msgspec.convert(flat, list[_element(dtype)]), dtype).reshape(output.shape)  # type: ignore[misc]
    except (ValueError, OverflowError, msgspec.ValidationError):
        raise UnreadableAnswer(noted(EndpointCode.OUTPUT_MISFIT, number=at, type=output.datatype)) from None


def _element(dtype: np.dtype[Any]) -> Any:
    """JSON has no NaN: servers say null."""
    if dtype.kind == "f":
        return float | None
    if dtype.kind == "b":
        return bool | Annotated[int, Meta(ge=0, le=1)]
    return int
