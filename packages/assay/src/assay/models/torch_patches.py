"""What torch does again for each program it decomposes, done once: the same programs in half of the time.

Seen with torch 2.13: of the processor time of one small `torch.onnx.export` or lowering by ExecuTorch, which decomposes three
times, more than half goes into finding the composite operators of every namespace, and into giving each of six hundred of them
twenty-one kernels that are taken away again.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

Kernel = Callable[..., Any]
Overridden = Callable[[Mapping[Any, Kernel]], AbstractContextManager[None]]


@cache
def quicken() -> None:
    """In this process, from here on. A torch that has not these functions stays as it is."""
    try:
        import torch
        from torch import _ops
        from torch._export import utils
        from torch._subclasses.fake_impls import op_implementations_dict
        from torch.export import exported_program

        collect: Callable[[Any], set[Any]] = utils._collect_all_valid_cia_ops_for_namespace
        overridden: Overridden = exported_program._override_composite_implicit_decomp
        materialize: Callable[[], None] = utils._materialize_cpp_cia_ops
        kernels: Callable[[str], list[str]] = torch._C._dispatch_get_registrations_for_dispatch_key
        composite = torch._C.DispatchKey.CompositeImplicitAutograd
        _registered(torch)
    except (ImportError, AttributeError):
        return
    vars(utils)["_materialize_cpp_cia_ops"] = _when_changed(
        lambda: _registered(torch), _when_changed(lambda: kernels("CompositeImplicitAutograd"), materialize)
    )
    vars(utils)["_collect_all_valid_cia_ops_for_namespace"] = _once(collect, lambda: _registered(torch))
    vars(exported_program)["_override_composite_implicit_decomp"] = overriding(
        overridden, composite, op_implementations_dict
    )
    if getattr(_ops, "Callable", None) is Callable:
        # The generic of collections.abc is made again at each use, that of typing is kept.
        vars(_ops)["Callable"] = typing.Callable


def _registered(torch: Any) -> tuple[Any, ...]:
    """Another one as soon as a library registers operators or kernels, from Python or when it is loaded."""
    library = torch.library
    return frozenset(library._defs), len(library._impls), len(torch.ops.loaded_libraries), len(sys.modules)


def _when_changed(state: Callable[[], Any], act: Callable[[], None]) -> Callable[[], None]:
    """`act`, left out where nothing has changed since it ran last."""
    known: list[Any] = []

    def acting() -> None:
        now = state()
        if known != [now]:
            act()
            known[:] = [now]

    return acting


def _once(collect: Callable[[Any], set[Any]], state: Callable[[], Any]) -> Callable[[Any], set[Any]]:
    """The operators of a namespace, looked for again where something was registered since: that may happen at any time."""
    known: dict[str, tuple[Any, set[Any]]] = {}

    def finding(namespace: Any) -> set[Any]:
        now = (state(), tuple(namespace))
        before, operators = known.get(namespace.name, (None, set()))
        if before != now:
            operators = collect(namespace)
            # Looking makes names that nobody had used yet.
            known[namespace.name] = ((state(), tuple(namespace)), operators)
        return operators

    return finding


@dataclass(frozen=True)
class _Tables:
    """The kernels of one operator before it is overridden and after, and its rule for tensors without data."""

    before: dict[Any, Kernel]
    after: dict[Any, Kernel]
    rule: Kernel


def overriding(overridden: Overridden, composite: Any, rules: MutableMapping[Any, Kernel]) -> Overridden:
    """`overridden`, which is asked about an operator once: what it made of its table of kernels is put there again, with what
    is to stand under the key `composite`. An operator that has changed since is left to it."""
    known: dict[Any, _Tables] = {}

    @contextmanager
    def override(kernels: Mapping[Any, Kernel]) -> Iterator[None]:
        here = {
            operator: tables
            for operator in kernels
            if (tables := known.get(operator)) is not None
            and operator not in rules
            and tables.before == operator.py_kernels
        }
        others = {operator: kernel for operator, kernel in kernels.items() if operator not in here}
        plain = {operator: dict(operator.py_kernels) for operator in others if operator not in rules}
        with overridden(others):
            for operator, before in plain.items():
                known[operator] = _Tables(before, dict(operator.py_kernels), rules[operator])
            try:
                for operator, tables in here.items():
                    operator.py_kernels.update(tables.after)
                    operator.py_kernels[composite] = kernels[operator]
                    operator._dispatch_cache.clear()
                    rules[operator] = tables.rule
                yield
            finally:
                for operator, tables in here.items():
                    operator.py_kernels.clear()
                    operator.py_kernels.update(tables.before)
                    operator._dispatch_cache.clear()
                    rules.pop(operator, None)

    return override
