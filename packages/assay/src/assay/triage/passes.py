"""What brought it: the level, the pass or the option without which the part is right; or a kernel, where none matters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import msgspec
from msgspec.structs import replace

from assay.core.flow import Flow, Option
from assay.core.outcome import Outcome
from assay.core.result import RegionResult
from assay.ports import Backend, OptionSpec, SwitchesPasses
from assay.triage.prober import OutOfTime


class Asks(Protocol):
    """Runs the part on a flow. `listed`: its passes are listed; `after`: it is first rewritten by the passes of that flow."""

    async def __call__(self, flow: Flow, *, listed: bool = False, after: Flow | None = None) -> RegionResult: ...


class Cure(msgspec.Struct, frozen=True):
    """A change after which the part is right. `kind` is "pass" (or several), "level", "option", or "hardware" (fewer instructions of the
    processor). `culprit`: a pass that makes what all
    others leave wrong; False: one that only prepares it; None: not known."""

    kind: str
    names: tuple[str, ...]
    options: dict[str, Option]
    culprit: bool | None = None


@dataclass(frozen=True)
class Brought:
    """`flow` is the one that fails with the least; `cures` are all that were found, the narrowest first. `kernel`: the lowest level fails,
    too, and no option matters. `tried` counts what was changed without effect. `unfinished`: the time was over before all was tried."""

    flow: Flow
    cures: tuple[Cure, ...] = ()
    kernel: bool = False
    tried: int = 0
    unfinished: bool = False

    @property
    def cured(self) -> Flow | None:
        """The failing flow with its first cure."""
        return replace(self.flow, options={**self.flow.options, **self.cures[0].options}) if self.cures else None


async def find_cures(backend: Backend, flow: Flow, ask: Asks, fails: Callable[[RegionResult], bool]) -> Brought:
    """Whether passes can be switched is the backend's matter; the values of its options are tried in any case."""
    if isinstance(backend, SwitchesPasses):
        brought = await _ByPasses(backend, backend.options, flow, ask, fails).found()
        if any(cure.kind == "pass" for cure in brought.cures):
            return brought
        levels = {name for level in backend.levels for name in level}
        options = await _by_options(backend, brought.flow, ask, levels)
        cures = (*options.cures, *brought.cures)
        unfinished = brought.unfinished or options.unfinished
        kernel = brought.kernel and not cures and not unfinished
        return Brought(brought.flow, cures, kernel, brought.tried + options.tried, unfinished)
    return await _by_options(backend, flow, ask, set())


class _ByPasses:
    """What the passes and levels of a backend say. All that is found by the time that is over stays."""

    def __init__(
        self,
        backend: SwitchesPasses,
        specs: Sequence[OptionSpec],
        flow: Flow,
        ask: Asks,
        fails: Callable[[RegionResult], bool],
    ) -> None:
        self._backend, self._specs, self._given, self._ask, self._fails = backend, specs, flow, ask, fails
        self._lowest, self._right = flow, list[Mapping[str, Option]]()
        self._alone, self._died = list[Cure](), False
        self._together: tuple[str, ...] = ()
        self._kernel, self._tried = False, 0

    async def found(self) -> Brought:
        """The narrowest cures first."""
        unfinished = False
        try:
            await self._look()
        except OutOfTime:
            unfinished = True
        cures = _culprits_first(self._alone, died=self._died)
        if self._together:
            without = self._backend.without_passes(self._lowest, self._together)
            cures.append(Cure("pass", self._together, changed(self._lowest, without)))
        cures += [
            Cure("level", tuple(str(option) for option in level.values()), dict(level)) for level in self._right[-1:]
        ]
        return Brought(self._lowest, tuple(cures), self._kernel, 1 if self._kernel else self._tried, unfinished)

    async def _look(self) -> None:
        levels = list(self._backend.levels)
        effective = {spec.name: spec.default for spec in self._specs} | self._given.options
        at = next((place for place, options in enumerate(levels) if options.items() <= effective.items()), None)
        # A flow whose options are those of no level is above all of them.
        tried = [*levels, {}] if at is None else levels[: at + 1]
        for level in tried:
            lower = replace(self._given, options={**self._given.options, **level})
            result = await self._ask(lower)
            if self._fails(result):
                self._lowest = lower
                break
            # What fails in another way, as a level that refuses an option of the flow, proves nothing.
            if is_right(result):
                self._right.append(level)
        else:
            self._right.clear()
            return
        names = (await self._ask(self._lowest, listed=True)).passes
        await self._each_alone(names)
        if self._alone:
            return
        self._kernel = level is tried[0]
        if not self._kernel:
            await self._all_together(names)

    async def _each_alone(self, names: Sequence[str]) -> None:
        """Passes without which it is right, also at the lowest level: some run there, too."""
        for name in names:
            without = self._backend.without_passes(self._lowest, [name])
            right = is_right(await self._ask(without))
            self._tried += 1
            if right:
                self._alone.append(Cure("pass", (name,), changed(self._lowest, without)))
        for at, cure in enumerate(self._alone if self._alone[1:] else ()):
            self._alone[at] = await self._with_culprit(names, cure)
        self._died = bool(self._alone) and (await self._ask(self._lowest)).outcome is not Outcome.OK

    async def _with_culprit(self, names: Sequence[str], cure: Cure) -> Cure:
        """A pass that prepares a pattern cures as well as the one that rewrites it: so the model that all others leave is given to this
        one alone."""
        without = self._backend.without_passes
        others = without(self._lowest, [name for name in names if name not in cure.names])
        result = await self._ask(others, after=without(self._lowest, cure.names))
        if result.outcome is not Outcome.OK and not self._fails(result):
            return cure
        return replace(cure, culprit=self._fails(result))

    async def _all_together(self, names: Sequence[str]) -> None:
        """The smallest set found without which the part is right, where two passes do the same; () where there is none."""
        left = list(names)
        if not left or not is_right(await self._ask(self._backend.without_passes(self._lowest, left))):
            return
        self._together = tuple(left)
        for name in names:
            fewer = [pass_name for pass_name in self._together if pass_name != name]
            if fewer and is_right(await self._ask(self._backend.without_passes(self._lowest, fewer))):
                self._together = tuple(fewer)


def _culprits_first(cures: Sequence[Cure], *, died: bool) -> list[Cure]:
    """Then those of which it is not known, and those that only prepare. Where the engine died, passes are listed up to the one in which
    it did: that one comes first of each."""
    order = [*reversed(cures)] if died else [*cures]
    return sorted(order, key=lambda cure: (cure.culprit is not True, cure.culprit is False))


async def _by_options(backend: Backend, flow: Flow, ask: Asks, done: Collection[str]) -> Brought:
    """Each other value of each option that has few, and those that it names; those in `done` were tried."""
    cures: list[Cure] = []
    tried = 0

    async def cure(spec: OptionSpec, name: str, value: Option) -> Cure | None:
        nonlocal tried
        right = is_right(await ask(replace(flow, options={**flow.options, spec.name: value})))
        tried += 1
        return Cure("hardware" if spec.of_processor else "option", (name,), {spec.name: value}) if right else None

    try:
        for spec in (option for option in backend.options if option.name not in done):
            changes = _changes(spec, flow.options.get(spec.name, spec.default))
            attempts = [partial(cure, spec, name, value) for name, value in changes]
            if spec.of_processor:
                cures += await _widest(attempts)
                continue
            for attempt in attempts:
                cures += filter(None, [await attempt()])
    except OutOfTime:
        return Brought(flow, tuple(cures), tried=tried, unfinished=True)
    return Brought(flow, tuple(cures), tried=tried)


async def _widest(limits: Sequence[Callable[[], Awaitable[Cure | None]]]) -> list[Cure]:
    """Of limits on the processor's instructions, the widest first, the first that is right. The narrowest is asked before: where that
    changes nothing the others do not either, and each takes a process of its own."""
    last = await limits[-1]() if limits else None
    if last is None:
        return []
    for limit in limits[:-1]:
        if (cure := await limit()) is not None:
            return [cure]
    return [last]


def _changes(spec: OptionSpec, value: Option) -> list[tuple[str, Option]]:
    """What each is called, and the value of the option with it."""
    if isinstance(spec.default, bool):
        return [(f"{spec.name}={not value}", not value)]
    if spec.tried and not (spec.of_processor or spec.choices):
        return _changes_of_list(spec, [part for part in str(value or "").split(";") if part])
    others = [choice for choice in dict.fromkeys((*spec.choices, *spec.tried)) if choice != value]
    return [(f"{spec.name}={other}", other) for other in others]


def _changes_of_list(spec: OptionSpec, options: Sequence[str]) -> list[tuple[str, Option]]:
    """Each switch that the flow has set is left out, and each other one is added: in place of the one of its name, as compilers take none
    twice."""
    less = [(f"{spec.name} without {part}", [other for other in options if other != part]) for part in options]
    more = [
        (f"{spec.name}={part}", [*(other for other in options if _name_of(other) != _name_of(str(part))), str(part)])
        for part in spec.tried
        if part not in options
    ]
    return [(name, ";".join(switches)) for name, switches in (*less, *more)]


def _name_of(switch: str) -> str:
    return switch.partition("=")[0]


def changed(flow: Flow, other: Flow) -> dict[str, Option]:
    """What to set on the user's own flow."""
    return {name: value for name, value in other.options.items() if flow.options.get(name) != value}


def is_right(result: RegionResult) -> bool:
    """Whether the part gave what float64 gives."""
    return result.outcome is Outcome.OK and not any(error.kind for error in result.errors)
