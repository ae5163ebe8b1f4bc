"""Two things that torch does anew for each program it decomposes, done once: the same answers in half of the time.

Seen with torch 2.13: of the processor time of one small `torch.onnx.export`, a third goes into naming the composite operators of
the dispatcher 45 times, and a quarter into annotations of a function inside a function; ExecuTorch's lowering decomposes three
times and spends as much.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def quicken() -> None:
    """In this process, from here on. A torch that has not these functions stays as it is."""
    try:
        import torch
        from torch import _ops
        from torch._export import utils

        materialize: Callable[[], None] = utils._materialize_cpp_cia_ops
        registered: Callable[[str], list[str]] = torch._C._dispatch_get_registrations_for_dispatch_key
    except (ImportError, AttributeError):
        return
    utils._materialize_cpp_cia_ops = _when_changed(lambda: registered("CompositeImplicitAutograd"), materialize)
    if getattr(_ops, "Callable", None) is Callable:
        # The generic of collections.abc is made anew at each use, that of typing is kept.
        vars(_ops)["Callable"] = typing.Callable


def _when_changed(state: Callable[[], Any], act: Callable[[], None]) -> Callable[[], None]:
    """`act`, left out where nothing has changed since it ran last: a library may register operators at any time."""
    known: list[Any] = []

    def acting() -> None:
        now = state()
        if known != [now]:
            act()
            known[:] = [now]

    return acting
