"""Is the new service slower? Both are started again for every pair of turns, take them interleaved with the same requests, and change
sides; a sequential rule decides, as for engines (`assay.stats.sequential_test`)."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean, median

from assay.core.load import ServiceComparison, ServicePair
from assay.core.service import Service
from assay.core.speed import SpeedRule
from assay.errors import EndpointFailed
from assay.judge.service_speed import decided, word_is_final, word_of
from assay.serving.load_answers import Answer as Reply
from assay.serving.load_answers import answers_of
from assay.serving.load_generator import Load, generate
from assay.serving.load_summary import is_late, keeps, late_ms, samples_of
from assay.serving.requests import Mix
from assay.serving.started import Started, started
from assay.stats.sequential_test import Answer

_FLOOR_MS = 0.05
_UNEQUAL = 0.01
"""Share of tokens by which answers of both may differ."""


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
    failed: tuple[int, int] = (0, 0)
    """Requests of the old and of the new service without a good answer, of `sent` to each."""
    sent: int = 0
    ended: str = ""
    """Which of both were gone, or answered too little, and ended the comparison ("": neither)."""
    old_ended: bool = False
    new_ended: bool = False

    @property
    def troubles(self) -> dict[str, int]:
        """How many pairs do not count, by why."""
        return dict(Counter(pair.trouble for pair in self.pairs if pair.trouble))

    @property
    def word(self) -> str:
        """Of all figures together: nothing is known of them where a service ended."""
        return (
            "inconclusive"
            if self.ended
            else word_of([answer.word for answer in self.answers.values()], self.failed, self.sent)
        )

    def recorded(self, old_name: str) -> ServiceComparison:
        """As the history keeps it."""
        pairs = tuple(ServicePair(pair.ratios, pair.new_first, not pair.trouble) for pair in self.pairs)
        ended = (self.old_ended, self.new_ended)
        return ServiceComparison(old_name, pairs, self.old, self.new, self.failed, self.sent, *ended)


class _Ended(Exception):
    """A service is gone, or answers too little to be timed; `sides` are 0 for the old one, 1 for the new."""

    def __init__(self, text: str, *sides: int) -> None:
        super().__init__(text)
        self.sides = sides


@dataclass
class _Seen:
    """What all blocks gave, of the old and of the new."""

    figures: tuple[list[dict[str, float]], list[dict[str, float]]] = field(default_factory=lambda: ([], []))
    failed: list[int] = field(default_factory=lambda: [0, 0])
    sent: int = 0


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
    say: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Pairs until every metric is decided, or one is slower: that is the word of the whole, whatever the others would say; or until the
    rule's last look is past; or until a service ends, or fails more than half of the requests. Raises EndpointFailed where one cannot be
    started."""
    pairs: list[Pair] = []
    seen = _Seen()
    order = random.Random(seed)
    firsts: list[bool] = []
    while True:
        if not firsts:  # as often first as second
            firsts = [True, False]
            order.shuffle(firsts)
        ended, gone = "", tuple[int, ...]()
        try:
            pairs.append(_pair(old, new, block, firsts.pop(), turns, len(pairs), objectives, seen))
        except _Ended as error:
            ended, gone = str(error), error.sides
        good = [pair for pair in pairs if not pair.trouble]
        answers = decided([pair.ratios for pair in good], [pair.new_first for pair in good], rule)
        words = ", ".join(f"{name} {answer.word}" for name, answer in answers.items())
        if not ended:
            say(f"pair {len(pairs)}: {words or pairs[-1].trouble}")
        none = not good and len(pairs) >= rule.looks[0]
        if ended or word_is_final(answers) or none or len(good) >= rule.looks[-1] or len(pairs) >= 2 * rule.looks[-1]:
            old_medians, new_medians = map(_medians, seen.figures)
            failed = (seen.failed[0], seen.failed[1])
            which = (0 in gone, 1 in gone)
            return Comparison(answers, tuple(pairs), old_medians, new_medians, failed, seen.sent, ended, *which)


def _medians(blocks: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: median(block[name] for block in blocks) for name in _common(blocks)}


def _common(blocks: Sequence[dict[str, float]]) -> list[str]:
    """Figures that each block has."""
    return [name for name in blocks[0] if all(name in block for block in blocks)] if blocks else []


def _pair(
    old: Service,
    new: Service,
    block: Block,
    new_first: bool,
    turns: int,
    number: int,
    objectives: dict[str, float],
    seen: _Seen,
) -> Pair:
    sides = [(1, new), (0, old)] if new_first else [(0, old), (1, new)]
    figures: dict[int, list[dict[str, float]]] = {0: [], 1: []}
    replies: dict[int, list[Reply]] = {0: [], 1: []}
    trouble = ""
    with ExitStack() as stack:
        running = {side: stack.enter_context(started(service)) for side, service in sides}
        loaded = partial(_loaded, block, running, dict(sides))
        for side, _ in sides:
            loaded(side, -1)  # warm
        for turn in range(turns):
            for side, _ in sides if turn % 2 == 0 else sides[::-1]:
                answers = loaded(side, number * turns + turn)
                figures_of_turn = _figures(answers, objectives)
                late = is_late(
                    {"sender_late_p99_ms": late_ms(answers), "ttft_p50_ms": figures_of_turn.get("ttft_p50", 0.0)}
                )
                trouble = trouble or ("the sender was late" if late else "")
                figures[side].append(figures_of_turn)
                replies[side] += answers
    for side in (0, 1):
        seen.figures[side].extend(figures[side])
        seen.failed[side] += sum(bool(answer.error) for answer in replies[side])
    seen.sent += len(replies[0])
    both = list(zip(figures[1], figures[0], strict=True))
    names = sorted(_common([*figures[0], *figures[1]]))
    ratios = {name: fmean(_ratio(name, *pair) for pair in both) for name in names}
    return Pair(ratios, new_first, trouble or _unequal(replies[0], replies[1]))


def _unequal(old: Sequence[Reply], new: Sequence[Reply]) -> str:
    """Said where the answers to the same requests have other numbers of tokens: shorter ones are no faster ones."""
    good = [
        (answer.tokens, other.tokens) for answer, other in zip(old, new, strict=True) if not answer.error + other.error
    ]
    mine, others = sum(tokens for tokens, _ in good), sum(other for _, other in good)
    if abs(mine - others) <= _UNEQUAL * max(mine, others):
        return ""
    counts = f"{mine / len(good):.3g} and {others / len(good):.3g}"
    return f"answers of the old and of the new differ in length: {counts} tokens each"


def _ratio(name: str, new: dict[str, float], old: dict[str, float]) -> float:
    first, other = max(new[name], _FLOOR_MS), max(old[name], _FLOOR_MS)
    return math.log(other / first) if name == "goodput" else math.log(first / other)


def _loaded(
    block: Block, running: Mapping[int, Started], services: Mapping[int, Service], side: int, number: int
) -> list[Reply]:
    """Raises _Ended; not for what fails while it is warmed, by a negative number. Where one is gone, or answers too little, the other is
    asked the same: the word must not depend on which of both was asked first."""
    answers, ended = _asked(block, running[side], services[side], number)
    if not ended:
        return answers
    other = 1 - side
    _, too = _asked(block, running[other], services[other], number)
    if not too:
        raise _Ended(ended, side)
    raise _Ended("; ".join([too, ended] if side else [ended, too]), 0, 1)


def _asked(block: Block, running: Started, service: Service, number: int) -> tuple[list[Reply], str]:
    """The answers to one block, and why they count for nothing ("": they do)."""
    try:
        answers = answers_of(block(running, service, number))
    except EndpointFailed as error:  # it was there when it was started
        return [], running.ended(service.name, failed=True) or str(error)
    too_little = _too_little(answers, service) if number >= 0 else ""
    return answers, running.ended(service.name, failed=any(answer.error for answer in answers)) or too_little


def _too_little(answers: Sequence[Reply], service: Service) -> str:
    """Said where more than half of the requests failed."""
    errors = [answer.error for answer in answers if answer.error]
    if 2 * len(errors) <= len(answers):
        return ""
    return f"service {service.name!r} failed {len(errors)} of {len(answers)} requests: {errors[0]}"


def _figures(answers: Sequence[Reply], objectives: dict[str, float]) -> dict[str, float]:
    good = [answer for answer in answers if not answer.error]
    samples = samples_of(good)
    figures = {f"{name}_p50": median(some) for name, some in samples.items() if some}
    if samples["ttft"]:
        figures["ttft_mean"] = fmean(samples["ttft"])
    if objectives:
        figures["goodput"] = float(sum(keeps(answer, objectives) for answer in good))
    return figures


def block_of(
    mix_of: Callable[[Started, Service], Mix], times_of: Callable[[int], Sequence[float]], timeout_s: float
) -> Block:
    """Of a mix and of arrival times by the number of the block."""
    return lambda running, service, number: generate(mix_of(running, service), times_of(number), timeout_s=timeout_s)
