"""The clock of the engines' devices: the seconds that their own events tell, added up call by call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assay.ports import DeviceTimed, Engine, Tensor
from assay.worker.timing.bound_call import Call, bound_call

_spent_s = 0.0


def device_time() -> float:
    """Seconds that devices spent on the calls of `calls_of` in this process. Only differences mean anything."""
    return _spent_s


def device_call(engine: Engine, feed: Mapping[str, Tensor]) -> Callable[[], float] | None:
    """One inference, awaited, that gives the seconds its device spent on it; None where the engine does not tell them."""
    contiguous = all(array.flags.c_contiguous for array in feed.values())
    return engine.device_call(feed) if isinstance(engine, DeviceTimed) and contiguous else None


def calls_of(engines: Sequence[Engine], feed: Mapping[str, Tensor], clock: str = "") -> tuple[tuple[Call, ...], str]:
    """A call of each engine, and the clock to compare them by: the device's where every one tells what its device spent, the
    caller's where only some do; else `clock`."""
    device_calls = [device_call(engine, feed) for engine in engines]
    calls = tuple(
        bound_call(engine, feed) if call is None else _counted(call)
        for engine, call in zip(engines, device_calls, strict=True)
    )
    if all(call is not None for call in device_calls):
        return calls, "device"
    return calls, "caller" if any(call is not None for call in device_calls) else clock


def _counted(call: Callable[[], float]) -> Call:
    def counted() -> None:
        global _spent_s
        _spent_s += call()

    return counted
