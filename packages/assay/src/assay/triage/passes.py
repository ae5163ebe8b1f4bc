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
        found = await _by_passes(backend, backend.options, flow, ask, fails)
        if any(one.kind == "pass" for one in found.cures):
            return found
        levels = {name for level in backend.levels for name in level}
        options = await _by_options(backend, found.flow, ask, levels)
        cures = (*options.cures, *found.cures)
        kernel = found.kernel and not cures and not options.unfinished
        return Brought(found.flow, cures, kernel, found.tried + options.tried, options.unfinished)
    return await _by_options(backend, flow, ask, set())


async def _by_passes(
    backend: SwitchesPasses, specs: Sequence[OptionSpec], flow: Flow, ask: Asks, fails: Callable[[RegionResult], bool]
) -> Brought:
    levels = list(backend.levels)
    said = {spec.name: spec.default for spec in specs} | flow.options
    at = next((place for place, one in enumerate(levels) if one.items() <= said.items()), None)
    # A flow whose options are those of no level is above all of them.
    asked = [*levels, {}] if at is None else levels[: at + 1]
    right: list[Mapping[str, Option]] = []
    lowest = flow
    for level in asked:
        lowest = replace(flow, options={**flow.options, **level})
        result = await ask(lowest)
        if fails(result):
            break
        # What fails in another way, as a level that refuses an option of the flow, proves nothing.
        if is_right(result):
            right.append(level)
    else:
        return Brought(flow)
    by_level = [Cure("level", tuple(str(one) for one in level.values()), dict(level)) for level in right[-1:]]
    names = (await ask(lowest, listed=True)).passes
    alone = await _alone(backend, lowest, names, ask, fails)
    if alone:
        return Brought(lowest, (*alone, *by_level), tried=len(names))
    if level is asked[0]:
        return Brought(lowest, kernel=True, tried=1)
    together = await _together(backend, lowest, names, ask)
    cures = (Cure("pass", together, changed(lowest, backend.without_passes(lowest, together))),) if together else ()
    return Brought(lowest, (*cures, *by_level), tried=len(names))


async def _alone(
    backend: SwitchesPasses, flow: Flow, names: Sequence[str], ask: Asks, fails: Callable[[RegionResult], bool]
) -> list[Cure]:
    """Passes without which it is right, also at the lowest level: some run there, too."""
    alone = []
    for name in names:
        without = backend.without_passes(flow, [name])
        if is_right(await ask(without)):
            alone.append(Cure("pass", (name,), changed(flow, without)))
    alone = [await _with_culprit(backend, flow, names, one, ask, fails) for one in alone] if alone[1:] else alone
    died = bool(alone) and (await ask(flow)).outcome is not Outcome.OK
    return _culprits_first(alone, died=died)


def _culprits_first(cures: Sequence[Cure], *, died: bool) -> list[Cure]:
    """Then those of which it is not known, and those that only prepare. Where the engine died, passes are listed up to the one in which
    it did: that one comes first of each."""
    order = [*reversed(cures)] if died else [*cures]
    return sorted(order, key=lambda one: (one.culprit is not True, one.culprit is False))


async def _with_culprit(
    backend: SwitchesPasses,
    flow: Flow,
    names: Sequence[str],
    cure: Cure,
    ask: Asks,
    fails: Callable[[RegionResult], bool],
) -> Cure:
    """A pass that prepares a pattern cures as well as the one that rewrites it: so the model that all others leave is given to this one
    alone."""
    others = backend.without_passes(flow, [name for name in names if name not in cure.names])
    result = await ask(others, after=backend.without_passes(flow, cure.names))
    if result.outcome is not Outcome.OK and not fails(result):
        return cure
    return replace(cure, culprit=fails(result))


async def _together(backend: SwitchesPasses, flow: Flow, names: Sequence[str], ask: Asks) -> tuple[str, ...]:
    """The smallest set found without which the part is right, where two passes do the same; () where there is none."""
    left = list(names)
    if not left or not is_right(await ask(backend.without_passes(flow, left))):
        return ()
    for name in names:
        fewer = [one for one in left if one != name]
        if fewer and is_right(await ask(backend.without_passes(flow, fewer))):
            left = fewer
    return tuple(left)


async def _by_options(backend: Backend, flow: Flow, ask: Asks, done: Collection[str]) -> Brought:
    """Each other value of each option that has few, and those that it names; those in `done` were tried."""
    cures: list[Cure] = []
    tried = 0

    async def cure(spec: OptionSpec, name: str, value: Option) -> Cure | None:
        nonlocal tried
        tried += 1
        right = is_right(await ask(replace(flow, options={**flow.options, spec.name: value})))
        return Cure("hardware" if spec.of_processor else "option", (name,), {spec.name: value}) if right else None

    try:
        for spec in (one for one in backend.options if one.name not in done):
            changes = _changes(spec, flow.options.get(spec.name, spec.default))
            asked = [partial(cure, spec, name, value) for name, value in changes]
            if spec.of_processor:
                cures += await _widest(asked)
                continue
            for one in asked:
                cures += filter(None, [await one()])
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
        if (found := await limit()) is not None:
            return [found]
    return [last]


def _changes(spec: OptionSpec, value: Option) -> list[tuple[str, Option]]:
    """What each is called, and the value of the option with it."""
    if isinstance(spec.default, bool):
        return [(f"{spec.name}={not value}", not value)]
    if spec.tried and not (spec.of_processor or spec.choices):
        return _changes_of_list(spec, [one for one in str(value or "").split(";") if one])
    others = [one for one in dict.fromkeys((*spec.choices, *spec.tried)) if one != value]
    return [(f"{spec.name}={one}", one) for one in others]


def _changes_of_list(spec: OptionSpec, said: Sequence[str]) -> list[tuple[str, Option]]:
    """Each switch that the flow has set is left out, and each other one is added: in place of the one of its name, as compilers take none
    twice."""
    less = [(f"{spec.name} without {one}", [other for other in said if other != one]) for one in said]
    more = [
        (f"{spec.name}={one}", [*(other for other in said if _name_of(other) != _name_of(str(one))), str(one)])
        for one in spec.tried
        if one not in said
    ]
    return [(name, ";".join(switches)) for name, switches in (*less, *more)]


def _name_of(switch: str) -> str:
    return switch.partition("=")[0]


def changed(flow: Flow, other: Flow) -> dict[str, Option]:
    """What to set on the user's own flow."""
    return {name: value for name, value in other.options.items() if flow.options.get(name) != value}


def is_right(result: RegionResult) -> bool:
    """Whether the part gave what float64 gives."""
    return result.outcome is Outcome.OK and not any(one.kind for one in result.errors)
