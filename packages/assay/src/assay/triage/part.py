"""One part of the graph that fails alone: what cures it, and the smallest model that fails in the same way."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.core.result import RegionResult
from assay.ports import ShowsEachPass, SwitchesPasses
from assay.triage.cause import Cause, Doubt, Pattern, Where
from assay.triage.context import Whole, end_error, explained
from assay.triage.graph import Places
from assay.triage.known_causes import LARGEST, pattern_of
from assay.triage.localize import Suspect
from assay.triage.origin import Origin, origin_of
from assay.triage.passes import Brought, Cure, changed, find_cures, is_right
from assay.triage.prober import OutOfTime
from assay.triage.reduce import earliest, minimize, shortest_prefix
from assay.triage.shrink import Edits, shrink
from assay.triage.sites import wrong_sites
from assay.triage.symptom import WITHIN, Symptom
from assay.triage.triage_text import found_first

MOST_TAPS = 12
"""Inner values that are tried as outputs."""
LEFT = 0.2
"""Of the end's error: with more left, another cause is looked for, and the same one at other places before."""
MOST_ENDS = 4
"""Of a suspect whose wrong value is right when it is the only output."""


@dataclass
class Part:
    """`places` fail alone, with `output` as the only output, or with those `beside` it where none of them can be left out; `explains` is
    the share of the end's error that goes when the part gives right values, and those `elsewhere` in which the same nodes are wrong. The
    rest is found by `cause`."""

    whole: Whole
    output: str
    places: Places
    symptom: Symptom
    explains: float | None
    doubts: list[Doubt] = field(default_factory=list)
    small_error: float | None = None
    pattern: Pattern | None = None
    healing: tuple[str, ...] = ()
    origin: Origin = field(default_factory=Origin)
    small: Places = frozenset()
    elsewhere: tuple[Suspect, ...] = ()
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.small = self.places

    @classmethod
    async def of(cls, whole: Whole, suspect: Suspect) -> Part | None:
        """Of a suspect, with the one output alone where that fails, too, or with one of its ends: an inner value may be wrong only because
        it is an output beside others. None where none fails again."""
        if not suspect.symptom.output:
            return cls(whole, whole.graph.outputs[0], suspect.places, suspect.symptom, None)
        for output in dict.fromkeys((suspect.symptom.output, *whole.graph.ends(suspect.places)[:MOST_ENDS])):
            places = whole.graph.before(output, suspect.places)
            again = whole.prober.symptom_of(await whole.prober.ask([places], outputs=(output,)))
            if again is not None:
                return cls(whole, output, places, again, await explained(whole, places))
        return None

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.output, *self.beside)

    @property
    def first_sentence(self) -> str:
        """What a person who waits is told first."""
        return found_first(self.whole.graph.labels(self.places), len(self.whole.graph.nodes), self.pattern)

    async def cause(self, number: int) -> Cause:
        """All that can be found in the time given."""
        brought = Brought(self.whole.context.job.flow)
        folder = self.whole.context.folder / f"cause-{number + 1}"
        try:
            if self.pattern is None or not self.pattern.cure:
                brought = await self._brought(self.places)
            elif (known := await self._brought_by(self.pattern.cure)) is not None:
                brought = known
            else:
                self.pattern, brought = None, await self._brought(self.places)
            if self.pattern is None:
                await self._fewest(brought)
            await self._saved(self.small, brought, folder)
            brought = await self._again(self.small, brought)
            self.healing = await self._healing_taps(brought)
            self.origin = await self._origin(brought)
        except OutOfTime:
            await self._out_of_time(brought, folder)
        cured = await self.whole_cured(brought)
        with suppress(OutOfTime):
            await self._explained_again()
        return self.made(folder, brought, cured)

    async def _out_of_time(self, brought: Brought, folder: Path) -> None:
        """What is small enough for a script is kept as it is."""
        self.doubts.append(Doubt.OUT_OF_TIME)
        if self.small_error is None and self.whole.graph.size(self.small) <= LARGEST:
            asked = self.whole.prober.late().ask(
                [self.small], brought.flow, outputs=self.outputs, save_dir=str(folder / "smallest")
            )
            self.small_error = end_error(await asked)

    @property
    def everywhere(self) -> Places:
        """All places of the model that are wrong in this way, as far as it is known."""
        return self.small.union(*(suspect.places for suspect in self.elsewhere))

    async def stands_also(self, suspects: Sequence[Suspect]) -> None:
        """The same nodes are wrong there, too."""
        self.elsewhere = tuple(suspects)
        self.explains = await explained(self.whole, self.everywhere)

    async def _explained_again(self) -> None:
        """By what is left of the part; where that is not all, by the same nodes wherever they are wrong."""
        if self.small != self.places:
            self.explains = await explained(self.whole, self.everywhere)
        own = pattern_of(self.whole.graph, self.small, self.whole.context.job.flow.backend, "")
        if self.pattern is not None or own is None or self.explains is None or self.explains >= 1.0 - LEFT:
            return
        for sites in await wrong_sites(self.whole, [own], self.small):
            await self.stands_also(sites.suspects)

    async def _origin(self, brought: Brought) -> Origin:
        """Where the backend says what the part is worth after each pass."""
        if not isinstance(self.whole.context.backend, ShowsEachPass) or not self.symptom.output:
            return Origin()
        asked = self.whole.prober.ask([self.small], brought.flow, outputs=self.outputs, each_pass=True)
        return origin_of((await asked).after_each, self.symptom.size)

    async def _healing_taps(self, brought: Brought) -> tuple[str, ...]:
        """Inner values that make the part right when they are outputs: they lie inside of what is computed as one."""
        graph, healing = self.whole.graph, []
        inner = [name for place in sorted(self.small) for name in graph.nodes[place].writes if name not in self.outputs]
        for name in inner[:MOST_TAPS]:
            result = await self.whole.prober.ask([self.small], brought.flow, outputs=self.outputs, taps=(name,))
            if is_right(result):
                healing.append(name)
        return tuple(healing)

    async def _brought(self, places: Places) -> Brought:
        async def ask(flow: Flow, *, listed: bool = False, after: Flow | None = None) -> RegionResult:
            asked = partial(self.whole.prober.ask, [places], flow, outputs=self.outputs, after=after)
            # What fails seldom is asked often, and a plain answer does not say when it has failed.
            as_plain = self.symptom.kind == "values" and not listed and self.whole.prober.tries == 1
            plain = await asked(derive=False) if as_plain else None
            if plain is not None and plain.outcome is Outcome.OK and end_error(plain) >= self.symptom.size / 2:
                # As wrong as before: that needs no tolerance, which costs more than the engine.
                return replace(plain, errors=tuple(replace(error, kind="values") for error in plain.errors))
            return await asked(list_passes=listed)

        context = self.whole.context
        return await find_cures(context.backend, context.job.flow, ask, self._is_like)

    async def _brought_by(self, name: str) -> Brought | None:
        """Where the part is right without the pass that a finding names; None where it is not."""
        backend, flow = self.whole.context.backend, self.whole.context.job.flow
        if not isinstance(backend, SwitchesPasses):
            return None
        without = backend.without_passes(flow, [name])
        if not is_right(await self.whole.prober.ask([self.places], without, outputs=self.outputs)):
            return None
        return Brought(flow, (Cure("pass", (name,), changed(flow, without)),), tried=1)

    def _is_like(self, result: RegionResult) -> bool:
        return self.symptom.is_like(self.whole.prober.symptom_of(result))

    async def _fewest(self, brought: Brought) -> None:
        """Fails as before with the least that fails, and is right under the cure: the same defect."""
        graph, prober = self.whole.graph, self.whole.prober
        cure = brought.cured
        if self.symptom.kind == "values" and math.isfinite(self.symptom.size):
            prober.screen(max(prober.job.screen, self.symptom.size / WITHIN))

        async def right(places: Places, outputs: tuple[str, ...]) -> bool:
            return cure is None or is_right(await prober.ask([places], cure, outputs=outputs))

        async def fails(places: Places) -> bool:
            result = await prober.ask([places], brought.flow, outputs=self.outputs)
            return self._is_like(result) and await right(places, self.outputs)

        async def fails_at(value: str, places: Places) -> bool:
            shown = prober.symptom_of(await prober.ask([places], brought.flow, outputs=(value,)))
            return shown is not None and shown.kind == self.symptom.kind and await right(places, (value,))

        for shortened in (None,) if self.beside else (shortest_prefix, earliest):
            if shortened is not None and graph.size(self.small) > 1:
                output, best = await shortened(graph, self.output, self.small, fails_at)
                symptom = prober.symptom_of(await prober.ask([best], brought.flow, outputs=(output,)))
                if symptom is not None:
                    self.output, self.small, self.symptom = output, best, symptom
            self.small = await minimize(graph, self.outputs, self.small, fails, partial(setattr, self, "small"))

    async def _saved(self, places: Places, brought: Brought, folder: Path) -> None:
        """The small model, and a simpler one where that fails as well; left in `folder`."""
        prober, outputs, cure = self.whole.prober, self.outputs, brought.cured
        raw = folder / "reduced"
        first = await prober.ask([places], brought.flow, outputs=outputs, save_dir=str(raw))
        smaller = prober.on(str(raw))
        nodes = [tuple(range(len(places)))]

        async def tries(edits: Edits) -> RegionResult | None:
            result = await smaller.ask(nodes, brought.flow, outputs=outputs, edits=edits)
            if not self.symptom.is_like_edited(self.whole.prober.symptom_of(result), guarded=cure is not None):
                return None
            if cure is not None and not is_right(await smaller.ask(nodes, cure, outputs=outputs, edits=edits)):
                return None
            return result

        best: list[Edits] = [()]
        try:
            if self.pattern is None or self.pattern.title:
                await shrink(first, tries, lambda edits: best.append(edits))
        finally:
            saved = str(folder / "smallest")
            last = await smaller.late().ask(nodes, brought.flow, outputs=outputs, edits=best[-1], save_dir=saved)
            self.small_error = end_error(last)
            shutil.rmtree(raw, ignore_errors=True)

    async def _again(self, small: Places, brought: Brought) -> Brought:
        """The cures of the small model: another one is another defect."""
        if small == self.places:
            return brought
        again = await self._brought(small)
        before = {cure.names for cure in brought.cures}
        if before and not before & {cure.names for cure in again.cures}:
            self.doubts.append(Doubt.SLIPPED)
        return again

    async def whole_cured(self, brought: Brought) -> bool | None:
        """Whether the first cure makes the model of the user right, under the options of the user; those that do not come last."""
        context, prober = self.whole.context, self.whole.prober
        if not brought.cures:
            return None
        flow = replace(context.job.flow, options={**context.job.flow.options, **brought.cures[0].options})
        try:
            result = await prober.ask([self.whole.everything], flow, outputs=self.whole.graph.outputs, derive=False)
        except OutOfTime:
            return None
        return result.outcome is Outcome.OK and end_error(result) < self.whole.error / 4

    def made(self, folder: Path, brought: Brought, cured: bool | None) -> Cause:
        """Of what is known of the part."""
        context, graph, small = self.whole.context, self.whole.graph, self.small
        single, versions = graph.size(small) == 1, self.whole.versions
        return Cause(
            job_key=context.job.key,
            model=context.job.case.name,
            flow=context.job.flow.name,
            backend=context.job.flow.backend,
            versions=versions,
            where=Where.NODE if single else Where.COMBINATION,
            end=context.end,
            symptom=self.symptom,
            nodes=tuple(graph.labels(small)),
            operators=tuple(graph.operators(small)),
            nodes_of_model=graph.size(self.whole.everything),
            elsewhere=tuple(graph.labels(suspect.places)[-1] for suspect in self.elsewhere),
            explains=self.explains,
            kernel=brought.kernel,
            cures=tuple(brought.cures),
            tried=brought.tried,
            origin=self.origin,
            whole_cured=cured,
            healing_taps=self.healing,
            doubts=tuple(dict.fromkeys([*self.doubts, *[Doubt.OUT_OF_TIME] * brought.unfinished])),
            known_as=self.pattern.folder if self.pattern is not None else "",
            known_title=f"{self.pattern.title}, seen in {self.pattern.seen}"
            if self.pattern and self.pattern.title
            else "",
            folder=str(folder),
            options=brought.flow.options,
            pattern=pattern_of(
                graph, small, context.job.flow.backend, str(folder), None if brought.cures else versions
            ),
            small_error=self.small_error,
            seconds=time.monotonic() - context.begin,
            asked=self.whole.prober.asked,
        )
