"""What an exception of torch says: from words to Unsupported, MemoryError, Unavailable or plain Lowering."""

from __future__ import annotations

import re

from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Lowering, Unavailable, Unsupported
from assay.onnx_to_torch.torch_messages import torch_message

_MEMORY = re.compile(r"can't allocate memory|not enough memory|out of memory|DefaultCPUAllocator", re.IGNORECASE)
_MISSING = re.compile(
    r"not implemented for|Could not run '|NotImplementedError|is not (currently )?(supported|implemented)|MissingOperator"
    r"|Unsupported|no kernel|not yet supported"
)
_GUARD = re.compile(r"Guard failed: ([^\n]+)")
"""What `torch.export` of 2.13 raises in a program that was called at a size it is not for."""
_COMPILER = re.compile(r"InvalidCxxCompiler|No working C\+\+ compiler")
_OPERATOR = (r"\"(\w+)\" not implemented for", r"Could not run '([^']+)'", r"target: (\S+)")


def torch_failure(error: Exception) -> Lowering | MemoryError:
    """Of any exception while a program is compiled or run (torch 2.13). The node is the operator where it is named."""
    if isinstance(error, Lowering):
        return error
    text = f"{type(error).__name__}: {error}"
    short = torch_message(error, limit=500)
    if _MEMORY.search(text):
        return MemoryError(short if isinstance(short, str) else text[:500])
    if _COMPILER.search(text):
        return Unavailable(noted(BackendCode.NO_CPP_COMPILER))
    if isinstance(error, AssertionError) and (guard := _GUARD.search(text)):
        sizes = re.sub(r"\.size\(\)", ".shape", guard[1].strip())
        return Unsupported(noted(BackendCode.SPECIALISED, sizes=sizes))
    node = next((match.group(1) for match in (re.search(pattern, text) for pattern in _OPERATOR) if match), "")
    if isinstance(error, NotImplementedError) or _MISSING.search(text):
        return Unsupported(noted(BackendCode.TORCH_CANNOT_DO_IT, error=short), node=node)
    return Lowering(noted(BackendCode.TORCH_FAILS, error=short), node=node)
