"""What `Engine.run` gave, as plain arrays by name."""

from __future__ import annotations

import sys

import numpy as np

from assay.core.dtype import is_known
from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.ports import Tensor
from assay.worker.describe_exception import type_name

Answer = dict[str, Tensor]
_LARGEST_VIEW = 16
"""Times the memory behind it: of a larger array whose elements repeat (strides of 0) nothing is copied."""
_SMALL_BYTES = 64 * 2**20
"""Up to here a copy is made of any."""


def checked(answer: object) -> Answer:
    """As plain arrays: methods of a class of the plug-in's own could tell something else than its memory holds. Raises Lowering where a
    plug-in breaks the promise of `Engine.run`."""
    if not isinstance(answer, dict):
        raise Lowering(noted(NoteCode.GAVE_NO_DICT, type=type_name(answer)))
    copied: Answer = dict.copy(answer)
    is_plain = type(answer) is dict
    for name, array in dict.items(answer):
        if not isinstance(name, str):
            raise Lowering(noted(NoteCode.GAVE_NO_NAME, type=type_name(name)))
        # By its type: what it says itself (`__class__`) is code of the plug-in.
        if not issubclass(type(array), (np.ndarray, np.generic)) or _is_masked(type(array)):
            raise Lowering(noted(NoteCode.GAVE_NO_ARRAY, output=name, type=type_name(array)))
        if not is_known(array.dtype):
            raise Lowering(noted(NoteCode.GAVE_ELEMENTS, output=name, type=str(array.dtype)))
        if isinstance(array, np.ndarray):
            if type(array) is not np.ndarray:
                copied[name], is_plain = np.ndarray.view(array, np.ndarray), False
            _look_into(name, copied[name])
    return answer if is_plain else copied


def _is_masked(kind: type) -> bool:
    """Whoever has one has imported its module, which takes a tenth of the start of a worker."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and issubclass(kind, masked.MaskedArray)


def _look_into(name: str, array: Tensor) -> None:
    """Elements that are no texts, and an array that is far larger than its memory: a copy of it would take the machine's."""
    if array.dtype == object:
        for element in array.flat:
            if not issubclass(type(element), (str, bytes)):
                raise Lowering(noted(NoteCode.GAVE_ELEMENTS, output=name, type=type_name(element)))
    if array.nbytes <= _SMALL_BYTES:
        return
    held = array.itemsize + sum(abs(step) * (size - 1) for step, size in zip(array.strides, array.shape, strict=True))
    if array.nbytes > _LARGEST_VIEW * held:
        raise Lowering(noted(NoteCode.GAVE_A_VIEW, output=name, bytes=array.nbytes, held=held))
