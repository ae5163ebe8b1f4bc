"""What is timed: one inference, with the inputs in place where the engine can bind them, else one `run` with its copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.core.note import NoteCode, noted
from assay.errors import Unsupported
from assay.ports import Engine, SelfTimed, SupportsBind, Tensor

Call = Callable[[], object]


def bound_call(engine: Engine, feed: Mapping[str, Tensor]) -> Call:
    """Every call of it is one inference on `feed`. An engine's `bind` is not used for inputs that
    lie in memory in another order, because what reordering them costs is then part of the question."""
    if isinstance(engine, SelfTimed):
        raise Unsupported(noted(NoteCode.NOT_TIMED_FROM_OUTSIDE))
    if isinstance(engine, SupportsBind) and all(array.flags.c_contiguous for array in feed.values()):
        return engine.bind(feed)
    run = engine.run
    return lambda: run(feed)
