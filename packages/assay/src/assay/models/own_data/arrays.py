"""Arrays in files of numpy and of safetensors."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.errors import BadGolden
from assay.models.own_data.raw import SINGLE, Raw
from assay.models.tensors import TensorFile

SUFFIXES = (".npy", ".npz", ".safetensors")
_ALONE = ("arr_0",)
"""What numpy calls the array of a savez that was given no name."""
_KNOWN = (b"\x93NUMPY", b"PK", b"\x80")
"""How arrays, archives of them and pickles begin."""
_SHOWN = 12


def read_arrays(path: Path) -> Raw:
    """The arrays of one file by name. Raises BadGolden with one sentence; pickled objects are never read."""
    if path.suffix.lower() == ".safetensors":
        with TensorFile(path) as opened:
            return Raw(str(path), {name: opened.read(name) for name in opened.tensors})
    try:
        loaded: Any = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return Raw(str(path), {SINGLE: loaded})
        with loaded:
            arrays = {name: loaded[name] for name in loaded.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        if (start := _start(path)) is not None:
            raise BadGolden(noted(DataCode.ARRAYS_OTHER, file=str(path), start=start)) from None
        if "pickle" in str(error):
            raise BadGolden(noted(DataCode.ARRAYS_PICKLED, file=str(path))) from None
        error_text = " ".join(str(error).split()) or type(error).__name__
        raise BadGolden(noted(DataCode.ARRAYS_DAMAGED, file=str(path), error=error_text)) from None
    if len(arrays) == 1 and next(iter(arrays)) in _ALONE:
        arrays = {SINGLE: arrays.popitem()[1]}
    return Raw(str(path), arrays)


def _start(path: Path) -> str | None:
    """How a file begins that is neither numpy's nor a pickle, which numpy takes every other file for; None for one that may be."""
    try:
        with path.open("rb") as file:
            start = file.read(_SHOWN)
    except OSError:
        return None
    return repr(start)[1:] if start and not start.startswith(_KNOWN) else None
