"""ExecuTorch without what a job has no use for: a runtime without the compiler, and small programs without large patterns."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from assay.models.lazy_import import lazy_import

FEWEST = 4
"""Operators that an interpolation or an attention has at least, once it is decomposed: two products, a softmax and a scale."""


_RULES = ("torch.distributed._meta_registrations", "torch._meta_registrations")
_TABLES = frozenset({"_decomp", "_meta_registrations", "_prims", "_refs"})
"""What the rules import, and other modules of torch find in `torch` without importing it."""


def import_runtime() -> None:
    """`executorch.runtime` wants one decorator of `executorch.exir`, whose first import is the whole compiler: four seconds."""
    import_torch()
    with minimal_import("executorch.exir"):
        import executorch.runtime  # noqa: F401


def import_torch() -> None:
    """Torch, its rules for tensors without data (FakeTensor) apart: who traces a program has them imported, who runs one has no
    use for them. They are a third of the time of its import (torch 2.13)."""
    with lazy_import("torch", _RULES):
        import torch
    # Names that `torch` imports when somebody asks for them.
    vars(torch).get("_lazy_modules", set()).update(_TABLES)


@contextmanager
def minimal_import(package: str) -> Iterator[None]:
    """Inside, modules of the package can be imported without what its `__init__` imports; afterwards none of them was."""
    if package in sys.modules:
        yield
        return
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(package, name=package)
    sys.modules[package] = importlib.util.module_from_spec(spec)
    try:
        yield
    finally:
        for name in [
            module_name
            for module_name in sys.modules
            if module_name == package or module_name.startswith(f"{package}.")
        ]:
            del sys.modules[name]


@cache
def faster_xnnpack_partitioner() -> None:
    """In this process, from here on: two passes export six programs each time a process begins, to look for their graphs (2.5 s,
    executorch 1.4), in programs too, that are too small to have them. A release that has not these passes stays as it is."""
    try:
        from executorch.backends.xnnpack._passes.convert_to_sdpa import ConvertToSDPAPass
        from executorch.backends.xnnpack._passes.convert_to_upsample_bilinear2d import ConvertToUpsampleBilinear2d
        from executorch.backends.xnnpack.partition.graphs import bilinear_2d, sdpa
    except ImportError:
        return
    for changed, module, patterns, none in (
        (ConvertToSDPAPass, sdpa, "get_graphs", list),
        (ConvertToUpsampleBilinear2d, bilinear_2d, "get_graphs_dict", dict),
    ):
        if hasattr(module, patterns):
            changed.call = memory_saving_export(changed.call, module, patterns, none)


def memory_saving_export(
    call: Callable[..., Any], module: Any, patterns: str, none: Callable[[], Any]
) -> Callable[..., Any]:
    """The pass, with no patterns to look for where the graph is smaller than each of them."""

    def calling(self: Any, graph_module: Any) -> Any:
        if sum(node.op == "call_function" for node in graph_module.graph.nodes) >= FEWEST:
            return call(self, graph_module)
        original = getattr(module, patterns)
        setattr(module, patterns, none)
        try:
            return call(self, graph_module)
        finally:
            setattr(module, patterns, original)

    return calling
