"""What a load showed of a service at one rate."""

from __future__ import annotations

import msgspec


class LoadPoint(msgspec.Struct, frozen=True):
    """`rate` is what was asked for, in requests a second; 0 where a result file does not say. `metrics` have the unit in their names,
    `intervals` (95 %) those of them that have one; `errors` are counted by what went wrong. `resident` are readings of the memory of the
    service's processes: seconds from the start of the load, bytes."""

    rate: float
    metrics: dict[str, float] = {}
    intervals: dict[str, tuple[float, float]] = {}
    errors: dict[str, int] = {}
    resident: tuple[tuple[float, int], ...] = ()


class Arrivals(msgspec.Struct, frozen=True):
    """How requests came: for how many seconds at each rate, by which process, from which seed, with how many tokens in turn."""

    rates: tuple[float, ...] = ()
    seconds: float = 0.0
    kind: str = ""
    seed: int = 0
    tokens: tuple[int, ...] = ()
    stream: bool = True


class ServicePair(msgspec.Struct, frozen=True):
    """One restart of two services: natural logarithms of new over old by figure (of goodput old over new: more is slower), `new_first`
    whether the new one was started and asked first. `counts` is False where the sender was late, or answers differ in length."""

    ratios: dict[str, float]
    new_first: bool
    counts: bool = True


class ServiceComparison(msgspec.Struct, frozen=True):
    """`old` and `new` are medians of all blocks, in ms (goodput a second); `failed` are requests of the old and of the new service
    without a good answer, of `sent` to each. `old_name` is that of the old service. `old_ended` and `new_ended`: it was gone, or
    answered too little, before the rule had its answer."""

    old_name: str
    pairs: tuple[ServicePair, ...]
    old: dict[str, float] = {}
    new: dict[str, float] = {}
    failed: tuple[int, int] = (0, 0)
    sent: int = 0
    old_ended: bool = False
    new_ended: bool = False
