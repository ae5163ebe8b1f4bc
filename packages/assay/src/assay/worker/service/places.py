"""The places of prompts where a service was asked, and what its answers there are worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.finding import Finding, FindingCode, facts
from assay.core.service_rules import WAYS
from assay.ports.prompts import Top
from assay.worker.service.oracle import Oracle, Prompt

_NORM, _ELEMENT = 4.0, 4.0
"""Times the noise of a correct flow, as `assay.numerics.tolerance.judge` allows it."""
_SUM_ROUNDING = 1e-15
"""Of a sum of probabilities in double."""


@dataclass(frozen=True)
class Place:
    """One answer: asked in this way what follows `beginning` of prompt number `prompt`. `top` is empty where only the token is known
    that it `chose`."""

    way: str
    prompt: int
    beginning: Prompt
    top: Top
    chosen: int | None


@dataclass(frozen=True)
class JudgedPlace:
    """The worst token of a place: `used` of what is allowed."""

    place: Place
    used: float
    token: int
    expected: float
    actual: float
    divergence: float
    errors: tuple[float, ...]


def judged(place: Place, oracle: Oracle, places: int) -> JudgedPlace:
    """`places` is how many there are: among more, a larger error is chance."""
    logs, deviation = oracle.logs(place.beginning), oracle.deviation(place.beginning)
    top = {token: value for token, value in place.top.items() if 0 <= token < len(logs)}
    limit = _ELEMENT * math.sqrt(2 * math.log(max(2, places * max(1, len(top)))))
    sizes = {token: _size(value - float(logs[token]), float(deviation[token])) for token, value in top.items()}
    if not sizes:
        return _by_choice(place, oracle, limit)
    worst = max(sizes, key=lambda token: sizes[token])
    if sizes[worst] == math.inf:  # such numbers have no order: nothing else can be told from them
        expected, actual = float(logs[worst]), top[worst]
        return JudgedPlace(place, math.inf, worst, expected, actual, math.inf, tuple(sizes.values()))
    named = place.chosen is None or place.chosen in top  # else some share a text: nobody can say which are missing
    missing = [token for token in np.argsort(-logs)[: len(top)] if int(token) not in top] if named else []
    least = min(top.values())
    for token in map(int, missing):  # it should be among the most probable, and is less so than all of these
        size = _size(max(0.0, float(logs[token]) - least), float(deviation[token]))
        if size > sizes[worst]:
            worst, top, sizes = token, {token: least, **top}, {token: size, **sizes}
    chosen = _by_choice(place, oracle, limit)
    judged_place = JudgedPlace(
        place,
        sizes[worst] / limit,
        worst,
        float(logs[worst]),
        top[worst],
        _divergence(top, logs),
        tuple(sizes.values()),
    )
    return judged_place if chosen.used <= max(1.0, judged_place.used) else chosen


def _size(difference: float, deviation: float) -> float:
    """Times what a correct service is off; infinite for what is no number."""
    if difference == 0.0:
        return 0.0
    size = abs(difference) / deviation if deviation > 0.0 else math.inf
    return size if math.isfinite(size) else math.inf


def _by_choice(place: Place, oracle: Oracle, limit: float) -> JudgedPlace:
    """By the token that it chose: another than the most probable is excused where noise may decide between the two."""
    logs, deviation = oracle.logs(place.beginning), oracle.deviation(place.beginning)
    best = int(np.argmax(logs))
    chosen = best if place.chosen is None else place.chosen
    if not 0 <= chosen < len(logs):
        return JudgedPlace(place, math.inf, chosen, -math.inf, 0.0, math.inf, ())
    margin = _size(float(logs[best] - logs[chosen]), float(deviation[best] + deviation[chosen]))
    return JudgedPlace(place, margin / limit, chosen, float(logs[chosen]), float(logs[best]), 0.0, ())


def _divergence(top: Top, logs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """A lower bound of the divergence of the service from the model, in nats: all other tokens are one (data processing inequality,
    Cover and Thomas, Elements of Information Theory, 2.8)."""
    given = np.array(list(top.values()))
    right = logs[list(top)]
    # What rounding leaves of 1 less the sum counts for the service: otherwise the bound would not be one.
    rest = (max(1e-300, 1 - float(np.exp(right).sum())), max(0.0, 1 - float(np.exp(given).sum())) + _SUM_ROUNDING)
    return max(0.0, float(np.exp(right) @ (right - given)) + rest[0] * math.log(rest[0] / rest[1]))


def judge_all(places: Sequence[Place], oracle: Oracle) -> list[JudgedPlace]:
    """In the same order."""
    return [judged(place, oracle, len(places)) for place in places]


def budget(places: Sequence[JudgedPlace]) -> float:
    """Of what is allowed: at the worst place, of the worst prompt, and of all together."""
    every = [error for place in places for error in place.errors]
    by_prompt: dict[tuple[str, int], list[float]] = {}
    for place in places:
        by_prompt.setdefault((place.place.way, place.place.prompt), []).extend(place.errors)
    norms = [
        math.sqrt(sum(error**2 for error in errors) / len(errors)) / _NORM
        for errors in (every, *by_prompt.values())
        if errors
    ]
    return max([place.used for place in places] + norms, default=0.0)


def difference(places: Sequence[JudgedPlace]) -> Finding | None:
    """The first way in which it answers otherwise, at its worst place."""
    ways = [
        way for way in WAYS if budget([judged_place for judged_place in places if judged_place.place.way == way]) > 1.0
    ]
    if not ways:
        return None
    way, *others = ways
    mine = [judged_place for judged_place in places if judged_place.place.way == way]
    worst = max(mine, key=lambda judged_place: judged_place.used)
    place = worst.place
    numbers = facts(
        way=way,
        prompt=place.prompt + 1,
        length=len(place.beginning),
        token=worst.token,
        expected=worst.expected,
        actual=worst.actual,
        used=max(worst.used, budget(mine)),
        count=sum(judged_place.used > 1.0 for judged_place in mine),
        places=len(mine),
        others=tuple(others),
    )
    return Finding("service", "logits", FindingCode.SERVED, numbers)


def blind(places: Sequence[JudgedPlace], oracle: Oracle) -> list[str]:
    """Ways in which answers would pass for those of another place: nothing is proved by them."""
    ways = []
    for way in dict.fromkeys(place.place.way for place in places):
        mine = [place.place for place in places if place.place.way == way]
        turned = [
            Place(way, place.prompt, place.beginning, other.top, other.chosen)
            for place, other in zip(mine, [*mine[1:], *mine[:1]], strict=True)
        ]
        if len(mine) > 1 and budget(judge_all(turned, oracle)) <= 1.0:
            ways.append(way)
    return ways
