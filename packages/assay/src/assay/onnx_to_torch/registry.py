"""ONNX operators by name: each one torch function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Function = Callable[..., Any]


@dataclass(frozen=True)
class Operator:
    """`function(node, *inputs)` gives one value or a tuple of them. An absent input is None or not passed.

    Inputs are tensors, but for those numbered in `host`: where their value is known while the graph is traced (a
    constant, a shape) they come as numpy arrays, whose elements may be torch.SymInt; else as tensors.
    """

    function: Function
    host: frozenset[int] = frozenset()


OPERATORS: dict[tuple[str, str], Operator] = {}
"""By (domain, name); "" is ai.onnx."""

HOST: dict[str, Function] = {}
"""Operators of ai.onnx on numpy arrays: what a graph computes on shapes and other small constants."""


def operator(*names: str, host: Iterable[int] = (), domain: str = "") -> Callable[[Function], Function]:
    """Register a function for these operators. `host` numbers the inputs that it wants as numbers, where possible."""

    def register(function: Function) -> Function:
        for name in names:
            OPERATORS[domain, name] = Operator(function, frozenset(host))
        return function

    return register


def host_operator(*names: str) -> Callable[[Function], Function]:
    """Register a function on numpy arrays for these operators of ai.onnx."""

    def register(function: Function) -> Function:
        HOST.update(dict.fromkeys(names, function))
        return function

    return register
