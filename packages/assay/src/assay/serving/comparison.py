"""Is the new service slower? Both are started again for every pair of turns, take them interleaved with the same requests, and change
sides; a sequential rule decides, as for engines (`assay.stats.sequential_test`)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import fmean, median

from msgspec.structs import replace

from assay.core.service import Service
from assay.core.speed import SpeedRule
from assay.errors import EndpointFailed
from assay.serving.answers import answers_of
from assay.serving.generator import Load, generate
from assay.serving.requests import Mix
from assay.serving.started import Started, started
from assay.serving.summary import is_late, keeps, late_ms, samples_of
from assay.stats.sequential_test import Answer, decide

METRICS = ("ttft_p50", "ttft_mean", "itl_p50", "e2e_p50", "goodput")
"""What the rule decides of. A p99 of a block is its largest sample: it is shown, and decides nothing."""
_FLOOR_MS = 0.05


@dataclass(frozen=True)
class Pair:
    """One restart of both: natural logarithms of new over old by metric (of goodput old over new: more is slower), `new_first` whether
    the new one was started and asked first. `trouble` says why the pair does not count."""

    ratios: dict[str, float]
    new_first: bool
    trouble: str = ""


@dataclass(frozen=True)
class Comparison:
    """`answers` by metric; `old` and `new` are medians of all blocks, in ms (goodput a second)."""

    answers: dict[str, Answer]
    pairs: tuple[Pair, ...]
    old: dict[str, float] = field(default_factory=dict)
    new: dict[str, float] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """Slower where any metric surely is; the same, or faster, where all are decided."""
        words = [one.word for one in self.answers.values()]
        if "slower" in words:
            return "slower"
        if not words or "inconclusive" in words:
            return "inconclusive"
        return "faster" if "faster" in words else "same"


Block = Callable[[Started, Service, int], Load]
"""Loads a service once; equal numbers bring equal requests at equal times."""


def compare_services(
    old: Service,
    new: Service,
    block: Block,
    *,
    rule: SpeedRule,
    objectives: dict[str, float],
    turns: int = 2,
    seed: int = 0,
    told: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Pairs until every metric is decided, or the rule's last look is past. Raises EndpointFailed where a service cannot be started, or
    gives an error to more than half of the requests."""
    pairs: list[Pair] = []
    seen: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    order = random.Random(seed)
    firsts: list[bool] = []
    while True:
        if not firsts:  # as often first as second
            firsts = [True, False]
            order.shuffle(firsts)
        pairs.append(_pair(old, new, block, firsts.pop(), turns, len(pairs), objectives, seen))
        good = [one for one in pairs if not one.trouble]
        answers = _decided(good, rule)
        told(
            f"pair {len(pairs)}: {', '.join(f'{name} {one.word}' for name, one in answers.items()) or pairs[-1].trouble}"
        )
        done = answers and all(one.word != "inconclusive" for one in answers.values())
        if done or len(good) >= rule.looks[-1] or len(pairs) >= 2 * rule.looks[-1]:
            figures = [{name: median(one[name] for one in side) for name in side[0]} if side else {} for side in seen]
            return Comparison(answers, tuple(pairs), *figures)


def _decided(pairs: Sequence[Pair], rule: SpeedRule) -> dict[str, Answer]:
    """Each metric has its share of the chance of error: a false alarm of any of them is one of all."""
    names = [name for name in METRICS if pairs and all(name in one.ratios for one in pairs)]
    if not names:
        return {}
    shared = replace(rule, alpha=rule.alpha / len(names))
    firsts = [one.new_first for one in pairs]
    return {name: decide([one.ratios[name] for one in pairs], shared, firsts) for name in names}


def _pair(
    old: Service,
    new: Service,
    block: Block,
    new_first: bool,
    turns: int,
    number: int,
    objectives: dict[str, float],
    seen: tuple[list[dict[str, float]], list[dict[str, float]]],
) -> Pair:
    sides = [(1, new), (0, old)] if new_first else [(0, old), (1, new)]
    figures: dict[int, list[dict[str, float]]] = {0: [], 1: []}
    trouble = ""
    with ExitStack() as stack:
        running = {side: stack.enter_context(started(service)) for side, service in sides}
        for side, service in sides:
            block(running[side], service, -1)  # warm
        for turn in range(turns):
            for side, service in sides if turn % 2 == 0 else sides[::-1]:
                load = block(running[side], service, number * turns + turn)
                if not running[side].alive:
                    raise EndpointFailed(
                        f"service {service.name!r} ended in the middle of a block: start it by hand and read what it says"
                    )
                found = _figures(load, service, objectives)
                late = is_late(
                    {"sender_late_p99_ms": late_ms(answers_of(load)), "ttft_p50_ms": found.get("ttft_p50", 0.0)}
                )
                trouble = trouble or ("the sender was late" if late else "")
                figures[side].append(found)
    for side in (0, 1):
        seen[side].extend(figures[side])
    names = figures[0][0].keys() & figures[1][0].keys()
    both = list(zip(figures[1], figures[0], strict=True))
    return Pair({name: fmean(_ratio(name, *one) for one in both) for name in sorted(names)}, new_first, trouble)


def _ratio(name: str, new: dict[str, float], old: dict[str, float]) -> float:
    one, other = max(new.get(name, 0.0), _FLOOR_MS), max(old.get(name, 0.0), _FLOOR_MS)
    return math.log(other / one) if name == "goodput" else math.log(one / other)


def _figures(load: Load, service: Service, objectives: dict[str, float]) -> dict[str, float]:
    answers = answers_of(load)
    good = [one for one in answers if not one.error]
    if 2 * len(good) < len(answers):
        first = next(one.error for one in answers if one.error)
        raise EndpointFailed(
            f"service {service.name!r} failed {len(answers) - len(good)} of {len(answers)} requests: {first}"
        )
    samples = samples_of(good)
    found = {f"{name}_p50": median(some) for name, some in samples.items() if some}
    found["ttft_mean"] = fmean(samples["ttft"])
    if objectives:
        found["goodput"] = float(sum(keeps(one, objectives) for one in good))
    return found


def block_of(
    mix_of: Callable[[Started, Service], Mix], times_of: Callable[[int], Sequence[float]], timeout_s: float
) -> Block:
    """Of a mix and of arrival times by the number of the block."""
    return lambda running, service, number: generate(mix_of(running, service), times_of(number), timeout_s=timeout_s)
