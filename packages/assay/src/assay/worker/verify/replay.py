"""Where the log of calls leaves it open when answers differ, another engine is asked: later, or the same calls over again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from assay.core.repeats import Pattern
from assay.ports import Engine
from assay.worker.verify.call_log import Call, CallLog
from assay.worker.verify.call_pattern import bad_calls

_WAIT_S = 2.0
_MOST_CALLS = 60


def named_by_replay(pattern: Pattern, log: CallLog, bad: Sequence[Call], load: Callable[[], Engine]) -> Pattern:
    """`time` for `calls` and `first_call` where an engine that was only waited for answers otherwise; `history` for `every_call` where
    the same calls give the same answers again."""
    if pattern in (Pattern.CALLS, Pattern.FIRST_CALL):
        return Pattern.TIME if _changes_while_waiting(log, bad[0], load()) else pattern
    if pattern is Pattern.EVERY_CALL:
        return Pattern.HISTORY if _is_repeated(log, bad[0], load(), load()) else pattern
    return pattern


def _changes_while_waiting(log: CallLog, first: Call, engine: Engine) -> bool:
    """Asked once, as late in its life as the other engine was when it changed."""
    if first.seconds > _WAIT_S:
        return False
    other = CallLog(engine, log.feeds, log.clock, log.but, firsts=dict(log.firsts))
    time.sleep(first.seconds * 1.1)
    other.ask(first.sample, first.offset)
    return bool(bad_calls([*other.calls, first])[:-1])


def _is_repeated(log: CallLog, first: Call, *engines: Engine) -> bool:
    """Whether two engines give the same answers to the same calls in the same order, and not the same ones throughout."""
    count = min(len(log.calls), first.number + _MOST_CALLS)
    logs = [CallLog(engine, log.feeds, log.clock, log.but) for engine in engines]
    for other in logs:
        for call in log.calls[:count]:
            other.ask(call.sample, call.offset)
    sizes = [[other_call.size for other_call in other.calls] for other in logs]
    return any(sizes[0]) and sizes[0] == sizes[1]
