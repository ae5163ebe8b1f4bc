"""Whether a converter failed for want of memory: the machine's limit, and not the model's fault."""

from __future__ import annotations

import re

_WORDS = re.compile(
    r"bad_alloc|out of memory|not enough memory|(?:can't|cannot) allocate memory|DefaultCPUAllocator", re.IGNORECASE
)


def out_of_memory(error: BaseException) -> bool:
    """By its type (Python, numpy), or by the words of a C++ library (torch, ONNX Runtime), which come as RuntimeError."""
    return isinstance(error, MemoryError) or _WORDS.search(str(error)) is not None
