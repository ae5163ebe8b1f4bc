"""Every call of an engine on the samples of a case: what it answered first, and how later answers to the same differ."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from assay.core.repeats import Instability, Pattern
from assay.ports import Engine, Tensor
from assay.worker.engine.checked_answer import checked
from assay.worker.verify.call_inputs import Feeds
from assay.worker.verify.same_bytes import distance, same_answer, same_bytes

Answer = dict[str, Tensor]
_HELD_BYTES = 64 * 2**20
"""Of answers that are kept as the engine gave them, to see whether it changes them later; that to the call before always is."""
OTHER = -2


class Call(msgspec.Struct, frozen=True, gc=False):
    """`number` is from 1; `before` the sample of the call before (-1: none; OTHER: none of these). `answer` numbers the answers to one
    sample that differ: 0 is the first one. `size` is how far it lies from that (`distance`)."""

    number: int
    sample: int
    before: int
    offset: int
    seconds: float
    answer: int = 0
    size: float = 0.0


@dataclass
class CallLog:
    """Calls of one engine. `firsts` are copies: what an engine hands out may be memory that it uses again. `farthest` are the answers
    farthest from the first ones, of the samples that have any. `but` are outputs that are drawn at random, `last_s` the seconds of
    the call before."""

    engine: Engine
    feeds: Feeds
    clock: Callable[[], float] = time.perf_counter
    but: frozenset[str] = frozenset()
    firsts: dict[int, Answer] = field(default_factory=dict)
    farthest: dict[int, Answer] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    breaches: list[Instability] = field(default_factory=list)
    last_s: float = 0.0
    _begin: float = 0.0
    _before: int = -1
    _known: dict[tuple[int, bytes], int] = field(default_factory=dict)
    _held: list[tuple[int, Answer]] = field(default_factory=list)
    _held_bytes: int = 0

    def __post_init__(self) -> None:
        self._begin = self.clock()

    @property
    def repeats(self) -> list[Call]:
        """The calls whose answers were compared with a first one."""
        return later_calls(self.calls)

    def ask(self, sample: int, offset: int = 0) -> Answer:
        """The engine's answer; raises as the engine does."""
        feed, begin = self.feeds.at(sample, offset), self.clock()
        answer = checked(self.engine.run(feed))
        end = self.clock()
        self.last_s, seconds = end - begin, end - self._begin
        number, before, self._before = len(self.calls) + 1, self._before, sample
        self._look_at_inputs(sample, offset, feed, number)
        if sample not in self.firsts:
            self.look_at_answers(number)
            self.firsts[sample] = {name: array.copy() for name, array in answer.items()}
            self._hold(sample, answer)
            self.calls.append(Call(number, sample, before, offset, seconds))
            return self.firsts[sample]
        first = self.firsts[sample]
        if same_answer(answer, first, self.but):
            self.calls.append(Call(number, sample, before, offset, seconds))
            return answer
        size = distance(answer, first, self.but)
        if size >= max((call.size for call in self.calls if call.sample == sample), default=0.0):
            self.farthest[sample] = {name: array.copy() for name, array in answer.items()}
        self.calls.append(Call(number, sample, before, offset, seconds, self._numbered(sample, answer), size))
        return answer

    def interrupted(self) -> None:
        """The engine was asked something else."""
        self._before = OTHER

    def look_at_answers(self, number: int = 0) -> None:
        """Whether those that were handed out are still what they were; `number` is the call in hand."""
        for sample, answer in self._held:
            first = self.firsts[sample]
            if name := next((name for name, array in answer.items() if not same_bytes(array, first[name])), ""):
                self._broken(Pattern.REUSED_BUFFER, name, sample, number or len(self.calls))

    def _look_at_inputs(self, sample: int, offset: int, feed: Answer, number: int) -> None:
        for name in self.feeds.written(sample, offset, feed):
            self._broken(Pattern.WRITTEN_INPUT, name, sample, number)

    def _broken(self, pattern: Pattern, name: str, sample: int, number: int) -> None:
        if not any((breach.pattern, breach.tensor) == (pattern, name) for breach in self.breaches):
            self.breaches.append(Instability(pattern, name, sample, call=number))

    def _hold(self, sample: int, answer: Answer) -> None:
        size = sum(array.nbytes for array in answer.values())
        if self._held and self._held_bytes + size > _HELD_BYTES:
            self._held.pop()  # the one before was looked at just now
        else:
            self._held_bytes += size
        self._held.append((sample, answer))

    def _numbered(self, sample: int, answer: Answer) -> int:
        digest = hashlib.blake2b(digest_size=16)
        for name, array in answer.items():
            if name not in self.but:
                digest.update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
        return self._known.setdefault((sample, digest.digest()), len(self._known) + 1)


def later_calls(calls: Sequence[Call]) -> list[Call]:
    """Those that are not the first one on their sample."""
    first: dict[int, int] = {}
    for call in calls:
        first.setdefault(call.sample, call.number)
    return [call for call in calls if call.number != first[call.sample]]
