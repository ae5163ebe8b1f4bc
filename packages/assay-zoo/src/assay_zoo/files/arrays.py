"""Whether the bytes of a NumPy array are its header and as many numbers as that says: none behind them is looked at by anybody."""

from __future__ import annotations

import math
from typing import IO


def array_trouble(file: IO[bytes], size: int) -> str:
    """Why `size` bytes are no array, "" where they are one."""
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
    except Exception as error:  # noqa: BLE001 - what a header makes Python's own parser raise
        return f"has a header that cannot be read ({type(error).__name__})"
    wanted = math.prod(shape) * dtype.itemsize
    rest = size - file.tell()
    return "" if rest == wanted else f"holds {rest} bytes behind its header, which speaks of {wanted}"
