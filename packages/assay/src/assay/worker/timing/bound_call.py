"""What is timed: one inference, with the inputs in place where the engine can bind them, else one `run` with its copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.errors import Unsupported
from assay.ports import Engine, Tensor

Call = Callable[[], object]


def bound_call(engine: Engine, feed: Mapping[str, Tensor]) -> Call:
    """Every call of it is one inference on `feed`. An engine that can has a method `bind`; it is not used for inputs that
    lie in memory in another order, because what reordering them costs is then part of the question."""
    if hasattr(engine, "call_times"):
        raise Unsupported(
            "a call of this engine cannot be timed from outside: it is measured, and not beside another one"
        )
    bind = getattr(engine, "bind", None)
    if bind is not None and all(array.flags.c_contiguous for array in feed.values()):
        call: Call = bind(feed)
        return call
    run = engine.run
    return lambda: run(feed)
