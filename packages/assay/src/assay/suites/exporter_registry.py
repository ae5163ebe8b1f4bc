"""The table of ONNX functions of torch's exporter: built once a process, and without reading the source of each function.

Seen with torch 2.13 and onnxscript 0.7: a table is built for each program, which is two thirds of the time of a small one; and of
that half goes into translating five hundred signatures from their source text, of which only the domain is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any


def remember_registry() -> None:
    """In this process, from here on. Another torch or onnxscript may have none of this: then it stays as it is."""
    try:
        from torch.onnx._internal.exporter import _registration

        build: Callable[..., Any] = _registration.ONNXRegistry.from_torchlib
    except (ImportError, AttributeError):
        return

    @cache
    def built(*version: int, **named: int) -> Any:
        with domains_alone():
            return build(*version, **named)

    setattr(_registration.ONNXRegistry, "from_torchlib", staticmethod(built))  # noqa: B010


@contextmanager
def domains_alone() -> Iterator[None]:
    """Inside, a function that is traced tells of its signature only the domain, which is that of its opset."""
    try:
        from onnxscript._internal.values import TracedOnnxFunction

        whole = vars(TracedOnnxFunction)["function_ir"]
    except (ImportError, KeyError):
        yield
        return
    setattr(TracedOnnxFunction, "function_ir", property(_domain))  # noqa: B010
    try:
        yield
    finally:
        setattr(TracedOnnxFunction, "function_ir", whole)  # noqa: B010


def _domain(function: Any) -> SimpleNamespace:
    return SimpleNamespace(domain=function.opset.domain)
