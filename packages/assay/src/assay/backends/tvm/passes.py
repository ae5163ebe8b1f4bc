"""Which of TVM's passes changed a module while it was compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ChangedPasses:
    """An instrument of `tvm.transform.PassContext`. `names` are those that left another module than they took, in the order in which they
    first did; passes that only call others are left out where what they call is there."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self._before: list[tuple[int, int]] = []

    def as_instrument(self) -> Any:
        """What TVM takes."""
        from tvm.ir.instrument import pass_instrument

        outer = self

        @pass_instrument
        class Seen:
            def run_before_pass(self, module: Any, _info: Any) -> None:
                outer._before.append((_hash(module), len(outer.names)))

            def run_after_pass(self, module: Any, info: Any) -> None:
                before, known = outer._before.pop()
                if _hash(module) != before and len(outer.names) == known:
                    outer.names[str(info.name)] = None

        return Seen()


def _hash(module: Any) -> int:
    import tvm_ffi

    return int(tvm_ffi.structural_hash(module, map_free_vars=True))


def changed_passes(compile_with: Callable[[list[Any]], object]) -> tuple[str, ...]:
    """Of one compilation, which is given the instruments."""
    passes = ChangedPasses()
    compile_with([passes.as_instrument()])
    return tuple(passes.names)
