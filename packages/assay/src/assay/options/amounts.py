"""Amounts of memory and of time, as they are written: 4GB, 512MiB, 1000000; 90s, 30m, 8h."""

from __future__ import annotations

import math
import re

from assay.core.case import LARGEST

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def bytes_of(value: object) -> int:
    """Bytes from a number or from a text with a unit: 4GB, 512MiB. Raises ValueError."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return value
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", value.strip()) if isinstance(value, str) else None
    amount = float(match[1]) * _UNITS.get(match[2].upper(), math.inf) if match else math.inf
    if not amount <= LARGEST:
        raise ValueError(f'must be a number of bytes or a text like "4GB" or "512MiB", not {value!r}')
    return math.floor(amount)


_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_of(value: object) -> float:
    """Seconds from a number or from a text with a unit: 90s, 30m, 8h. Raises ValueError."""
    text = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)", text)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not 1.0 <= seconds < math.inf:
        raise ValueError(f'must be a time of at least a second, like "90s", "30m" or "8h", not {value!r}')
    return seconds
