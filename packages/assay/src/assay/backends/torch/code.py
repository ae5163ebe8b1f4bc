"""What Inductor made of a graph, read from the code that it wrote: its own kernels, and calls of libraries."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.backends.placements import count
from assay.core.engine_info import Placement

_KERNEL = re.compile(r"^\s*(?:\w+\.run\(|)(?P<name>(?:cpp|triton)_\w*fused\w*)\(", re.MULTILINE)
_LIBRARY = re.compile(
    r"(?:extern_kernels\.(?P<extern>\w+)|aoti_torch_(?:cpu|cuda)_(?P<aoti>\w+)|torch\.ops\.(?P<op>[\w.]+))\("
)
_HOUSEKEEPING = re.compile(r"^(?:_?empty|delete|get_|create|new_|clone_preserve|assert|copy_?$|reinterpret)")
_NUMBER = re.compile(r"_\d+$")


def compiled(
    module: Any, args: Any, kwargs: Any, restored: Callable[[Callable[..., Any]], Callable[..., Any]], *, dynamic: bool
) -> tuple[Callable[..., Any], str]:
    """The module compiled by Inductor on these inputs, `restored` after each call, and the code that was written for them."""
    import torch
    from torch._inductor.utils import run_and_get_code

    call = restored(torch.compile(module, backend="inductor", dynamic=dynamic, fullgraph=True))
    _, codes = run_and_get_code(call, *args, **kwargs)
    return call, "\n".join(codes)


def package_code(package: Path) -> str:
    """The wrapper of a package compiled ahead of time: the C++ that calls everything else."""
    with zipfile.ZipFile(package) as archive:
        wrappers = [name for name in archive.namelist() if name.endswith((".wrapper.cpp", "wrapper.cpp"))]
        return "\n".join(archive.read(name).decode(errors="replace") for name in wrappers)


def kernels(code: str, device: str) -> tuple[Placement, ...]:
    """Each kernel and library call with how often the code has it; none for an engine without generated code."""
    rows = [(_NUMBER.sub("", match["name"]), f"inductor-{device}", "") for match in _KERNEL.finditer(code)]
    for match in _LIBRARY.finditer(code):
        name = match["extern"] or match["aoti"] or match["op"]
        if not _HOUSEKEEPING.match(name):
            rows.append((name, f"library-{device}", ""))
    return count(rows)
