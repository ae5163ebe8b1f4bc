"""Two engines side by side: what is asked, and what was seen. Which is faster is derived from it, never recorded."""

from __future__ import annotations

from functools import cache

import msgspec

from assay.core.flow import Flow
from assay.core.model import Model
from assay.core.note import Note, NoteCode, noted

USUAL_INTERIM_LOOKS = (4, 6, 8, 12, 16, 20)
_STEP = 8
TIME_LIMIT_MESSAGE = "the time ran out: raise --timeout, or measure on a machine with less else to do"
INPUT_TYPES_SUFFIX = ".takes.json"
"""After the path of a kept artifact: the file that says in which types the engine takes its inputs."""


def stopped_clock(clock: str) -> Note:
    """The trouble with a comparison whose clock stands still."""
    return noted(NoteCode.DEVICE_CLOCK_STOPPED if clock == "device" else NoteCode.CPU_CLOCK_STOPPED)


@cache
def interim_looks(launches: int) -> tuple[int, ...]:
    """After how many launches the data are looked at, where there may be `launches` (at least 4) of them."""
    usual = [look for look in USUAL_INTERIM_LOOKS if look < launches]
    more = range(USUAL_INTERIM_LOOKS[-1] + _STEP, launches, _STEP)
    return (*usual, *more, launches)


class SpeedRule(msgspec.Struct, frozen=True):
    """When a difference in CPU time counts, in natural logarithms' small change: 0.01 is one percent.

    `min_slowdown`: a slowdown below it is ignored. `margin`: below it an engine is called the same. `alpha` and
    `beta` are the chances of a wrong "slower" and of a wrong "same", each spent in equal parts over `interim_looks`, the numbers
    of launches after which the data are looked at. `spread` is the least standard deviation between launches that is
    believed. `wall_min_slowdown` is the coarse limit on the wall clock, for what CPU time cannot see: waiting;
    `load_min_slowdown` that on the time to load; `stored_min_slowdown` the limit where stored samples have to stand in for an engine:
    a machine is not what it was last month by more than a limit of one percent can show.
    """

    min_slowdown: float = 0.01
    margin: float = 0.02
    alpha: float = 0.001
    beta: float = 0.05
    looks: tuple[int, ...] = USUAL_INTERIM_LOOKS
    spread: float = 0.002
    wall_min_slowdown: float = 0.25
    load_min_slowdown: float = 0.5
    stored_min_slowdown: float = 0.1


class BaselineEngine(msgspec.Struct, frozen=True):
    """What the candidate is compared with: a model on a flow, to be built, or the `artifact` of a baseline, to be loaded if
    it still has the `digest` that was approved (None: whatever it has).

    `name` is what reports call it; `trouble` says why there is nothing to be compared with ("" where there is). `stored`
    are CPU seconds per call by launch, of a baseline that cannot be run again here: the candidate is then compared with
    itself, and its own launches are compared with those.
    """

    name: str
    flow: Flow
    model: Model
    artifact: str = ""
    digest: str | None = None
    trouble: str = ""
    stored: tuple[float, ...] = ()


class AlternatingSide(msgspec.Struct, frozen=True):
    """How one of two processes takes its turns: the folder of the two pipes, the seed of the order, who leads, the file
    that says in which types the candidate takes its inputs ("": as they are), and what the artifact was when it was built
    or approved (None: whatever it is)."""

    folder: str
    seed: int
    leads: bool
    takes: str = ""
    digest: str | None = None


class PairedRun(msgspec.Struct, frozen=True):
    """One fresh pair of engines: natural logarithms of candidate over rival for CPU time (or what the comparison's clock tells), wall
    time and load time, how many quadruples of calls stand behind the first two, the median of the first's seconds per call
    of each, and whether the candidate was loaded first (None where that is not known, or each has a process of its own)."""

    cpu: float
    wall: float
    load: float
    quads: int
    own_s: float = 0.0
    rival_s: float = 0.0
    own_first: bool | None = None


class SpeedComparison(msgspec.Struct, frozen=True):
    """`clock` is thread or, where an engine has several threads, caller (process in older results), or device, where both
    engines tell what theirs spent: what `PairedRun.cpu` and `own_s`, `rival_s` were taken by; these are medians of seconds per
    call, of all launches, the others those of wall seconds. `trouble` says why nothing can be compared (None where it can),
    `out_of_time` that more launches were due: neither had the rule its answer, nor was its last look past. `stored` as in
    `BaselineEngine`."""

    rival: str
    launches: tuple[PairedRun, ...] = ()
    clock: str = ""
    own_s: float = 0.0
    rival_s: float = 0.0
    batch: int = 0
    processes: int = 1
    trouble: Note | None = None
    own_wall_s: float = 0.0
    rival_wall_s: float = 0.0
    out_of_time: bool = False
    stored: tuple[float, ...] = ()
