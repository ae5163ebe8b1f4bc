"""Programs that write to buffers of their own (a cache of keys and values): every run starts from what was exported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree


def restoring(module: Any, exported: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What `module` holds now, to wrap calls of it with: after each the buffers hold that again, and no output is one of them.

    An engine is asked several times, in any order, and a saved one must be what was lowered.
    """
    names = _written(exported)
    held = {name: buffer for name, buffer in module.named_buffers() if name in names}
    kept = {name: buffer.clone() for name, buffer in held.items()}

    def wrapped(call: Callable[..., Any]) -> Callable[..., Any]:
        if not kept:
            return call

        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                return _pytree.tree_map_only(torch.Tensor, torch.clone, call(*args, **kwargs))
            finally:
                with torch.no_grad():
                    for name, value in kept.items():
                        held[name].copy_(value)

        return run

    return wrapped


def reloading(package: Any, exported: Any) -> Callable[..., Any]:
    """The same of a package compiled ahead of time, which holds its own buffers."""
    names = _written(exported)
    held = {**exported.constants, **exported.state_dict}
    kept = {name: value.clone() for name, value in held.items() if name in names}
    if not kept:
        return package  # type: ignore[no-any-return]

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return _pytree.tree_map_only(torch.Tensor, torch.clone, package(*args, **kwargs))
        finally:
            package.load_constants(kept, check_full_update=False)

    return run


def _written(exported: Any) -> set[str]:
    """Buffers that the program writes to. A program as it was exported writes in place, and only without such operators does
    its signature tell."""
    schemas = [getattr(node.target, "_schema", None) for node in exported.graph.nodes]
    if any(schema is not None and schema.is_mutable for schema in schemas):
        exported = exported.run_decompositions({})
    return set(exported.graph_signature.buffers_to_mutate.values())
