"""What a person sees who waits: a live line on a terminal, plain lines on a pipe, verdicts as soon as they are known."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core.job import (
    AlternateJob,
    ChangeJob,
    CompareSpeedJob,
    DeriveToleranceJob,
    InspectJob,
    ListMutantsJob,
    MeasureJob,
    PerNodeJob,
    ReferenceJob,
    RegionJob,
    SearchInputsJob,
    ValuesJob,
    VerifyJob,
)
from assay.core.job_base import Job
from assay.core.outcome import Stage
from assay.core.result import Result
from assay.core.result_parts import comparisons_of
from assay.core.step import UNKNOWN, Step

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

LASTS_S = 1.0
"""On a pipe an activity that is over sooner gets no line of its own ..."""
OFTEN_S = 1.9
"""... unless the last line is as old as that: with a tick, two seconds. So often one activity has a line at first ..."""
AT_FIRST_S = 30.0
"""... so long ..."""
HEARTBEAT_S = 10.0
"""... and then so often: a log is not to be filled."""
TICK_S = 0.1
NOTHING = "starting the next job"
FEW = 40
"""Jobs of a run: up to so many, each verdict has a line; beyond, lines count them."""
_ENDED = {"pass": "green", "fail": "bold red", "error": "bold red", "inconclusive": "yellow"}
_BUILDING = (Stage.START, Stage.IMPORT, Stage.TRANSFORM, Stage.LOWER, Stage.SAVE, Stage.LOAD)


def activity(job: Job, stage: Stage) -> str:
    """What a worker does, in words, with the names of the model and of the flow."""
    case, flow = job.case.name, job.subject
    match job:
        case InspectJob():
            return f"looking at {case}"
        case ReferenceJob():
            return f"computing the reference of {case} by {flow}"
        case DeriveToleranceJob():
            return f"deriving the tolerance of {case} for {job.precision}"
        case VerifyJob():
            return f"{'building' if stage in _BUILDING else 'verifying'} {case} on {flow}"
        case PerNodeJob():
            return f"judging {case} on {flow} node by node"
        case MeasureJob():
            return f"{'building' if stage in _BUILDING else 'measuring'} {case} on {flow}, alone"
        case CompareSpeedJob() | AlternateJob():
            return f"timing {case} on {flow} beside its baseline"
        case ChangeJob():
            return f"comparing {case} with its original"
        case ListMutantsJob():
            return f"listing the mutants of {case}"
        case SearchInputsJob():
            return f"looking for inputs of {case} on which {flow} shows its mutant"
        case ValuesJob():
            return f"evaluating every value of {case} in float64"
        case RegionJob():
            parts = len(job.windows)
            return f"running {parts if parts > 1 else 'a'} part{'s' if parts > 1 else ''} of {case} on {flow}"
        case _:
            return f"{job.kind.replace('_', ' ')} of {case} on {flow}"


@dataclass(frozen=True)
class Doing:
    """One activity, since when, and how far it is."""

    text: str
    since: float
    step: Step = UNKNOWN

    @property
    def how_far(self) -> str:
        """ "sample 2 of 4, draw 3 of 8", as far as it is known."""
        last_step = self.step
        sample = f"sample {last_step.sample} of {last_step.samples}" if last_step.samples > 1 else ""
        return ", ".join(
            filter(None, (sample, f"draw {last_step.draw} of {last_step.draws}" if last_step.draws > 1 else ""))
        )


class Activities:
    """What goes on now. `current` is what began last and has not ended."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.begin = clock()
        self._of_run, self._launched = (0, 0), (0, 0)
        self._running: dict[str, Doing] = {}
        self._own = Doing("starting", self.begin)
        self.what_to_do = ""

    @property
    def current(self) -> Doing:
        running = tuple(self._running.values())  # at once: a thread that writes lines asks, too
        return running[-1] if running else self._own

    @property
    def counts(self) -> tuple[int, int]:
        """How many jobs are done, and of how many: of the run where there is one, else of those that were launched together."""
        return self._of_run if self._of_run[1] else self._launched

    def doing(self, what: str) -> None:
        """See `assay.pipeline.progress.Progress`."""
        self._own = Doing(what, self.clock())

    def at(self, job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
        """See `assay.pipeline.progress.Progress`."""
        self._launched = done, total
        before = self._running.pop(job.key, None)
        self._own = Doing(NOTHING, self.clock())
        if stage is None:
            return
        text = activity(job, stage)
        since = before.since if before is not None and before.text == text else self.clock()
        self._running[job.key] = Doing(text, since, step)

    def begun(self, done: int, planned: int) -> None:
        """See `assay.pipeline.progress.Progress`."""
        self._of_run, self._launched = (done, planned), (0, 0)

    def in_hand(self, what_to_do: str) -> None:
        """See `assay.pipeline.progress.Progress`."""
        self.what_to_do = what_to_do

    def recorded(self, done: int, planned: int, result: Result, verdict: str) -> None:
        """See `assay.pipeline.progress.Progress`."""
        del result, verdict
        self._of_run = done, planned


def verdict_line(result: Result, verdict: str) -> str:
    """Of one result, before the table at the end shows it again beside all others."""
    used = [
        comparison.metrics["budget_used"]
        for comparison in comparisons_of(result)
        if "budget_used" in comparison.metrics
    ]
    text = f", budget used {max(used):.3g}" if used else ""
    return f"{verdict}: {result.case} on {result.flow} ({result.kind}{text})"


class Lines(Activities):
    """Lines for a pipe or a file: one for an activity that lasts, and one from time to time while it goes on; `rest_s` apart at least,
    except for verdicts."""

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic, rest_s: float = 0.0
    ) -> None:
        super().__init__(clock)
        self._write, self._rest_s = write, rest_s
        self._written, self._last = "", self.begin
        self._lock = threading.Lock()

    def start(self) -> None:
        """A sign of life at once, before anything that takes time."""
        self._written = self.current.text
        self._line(self.current.text)

    def recorded(self, done: int, planned: int, result: Result, verdict: str) -> None:
        """A verdict has its line at once, where others are still to come."""
        super().recorded(done, planned, result, verdict)
        if verdict and done < planned <= FEW:
            self._line(verdict_line(result, verdict))

    def tick(self) -> None:
        """Writes a line where one is due."""
        now, current = self.clock(), self.current
        quiet = now - self._last
        lasts = now - current.since
        if (current.text == NOTHING and lasts < OFTEN_S) or quiet < self._rest_s:
            return
        if current.text != self._written:
            if lasts >= LASTS_S or quiet >= OFTEN_S:
                self._written = current.text
                self._line(current.text, current.how_far, self._counted)
        elif quiet >= (OFTEN_S if lasts <= AT_FIRST_S else HEARTBEAT_S):
            self._line(current.text, current.how_far, f"for {lasts:.0f} s", self._counted)

    @property
    def _counted(self) -> str:
        """Nothing of what the driver itself does: that is no job."""
        done, total = self.counts
        return f"{done} of {total} done" if total > 1 and self._running else ""

    def _line(self, *parts: str) -> None:
        with self._lock, suppress(OSError, ValueError):
            self._last = self.clock()
            self._write(f"[{self._last - self.begin:5.1f} s] {', '.join(filter(None, parts))}")


class Live(Activities):
    """One line of a terminal that is written over; verdicts stay above it."""

    def __init__(self, bar: Bar, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._bar = bar
        self._task = bar.add_task(self.current.text, total=None, count="", far="")

    def doing(self, what: str) -> None:
        """See `assay.pipeline.progress.Progress`."""
        super().doing(what)
        self._show()

    def at(self, job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
        """See `assay.pipeline.progress.Progress`."""
        super().at(job, stage, done, total, step)
        self._show()

    def recorded(self, done: int, planned: int, result: Result, verdict: str) -> None:
        """See `assay.pipeline.progress.Progress`."""
        super().recorded(done, planned, result, verdict)
        if verdict and done < planned <= FEW:
            from rich.text import Text

            word, _, rest = verdict_line(result, verdict).partition(":")
            self._bar.console.print(Text.assemble((word, _ENDED.get(word, "")), ":", rest))
        self._show()

    def _show(self) -> None:
        current = self.current
        done, total = self.counts
        counted = f"{done}/{total}" if total > 1 else ""
        known = total if total > 1 else None
        self._bar.update(self._task, completed=done, total=known, count=counted)
        if current.text != NOTHING:  # what went on before stays until something else does
            self._bar.update(self._task, description=current.text, far=current.how_far)


@contextmanager
def lines(write: Callable[[str], None], rest_s: float = 0.0) -> Iterator[Lines]:
    """Lines written by a thread of their own: what the driver waits for may take long."""
    shown, ended = Lines(write, rest_s=rest_s), threading.Event()
    shown.start()

    def ticking() -> None:
        while not ended.wait(TICK_S):
            shown.tick()

    thread = threading.Thread(target=ticking, name="progress", daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        ended.set()
        thread.join()


@contextmanager
def live() -> Iterator[Live]:
    """A bar on standard error, gone when all is done."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        TextColumn("{task.fields[far]}", markup=False),
        TextColumn("{task.fields[count]}", markup=False),
        BarColumn(bar_width=10),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, expand=True) as bar:
        yield Live(bar)
