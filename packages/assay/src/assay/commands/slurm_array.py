"""`assay run --on slurm`: an array of few large shards, whose results are merged. A shard that is missing is run again, and judged as
missing where it does not come."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from assay.commands.alerting import rules_for, with_alerts
from assay.commands.composition import open_services
from assay.commands.reporting import destinations
from assay.commands.sources import MINED
from assay.commands.suite_policy import with_known_failures
from assay.core.run import ModelSource
from assay.errors import EnvironmentFailed, SlurmUnreachable, UsageError, WorkerFailed
from assay.judge.words.note_text import counted
from assay.launch.slurm import SlurmArray
from assay.models.named_sources import as_written
from assay.options.arguments import without
from assay.options.groups import HERE
from assay.options.run import RunOptions
from assay.pipeline.adapters import Services
from assay.pipeline.merge import Whole, merge, save_run, saved_run, without_shard
from assay.pipeline.open_run import Checked
from assay.pipeline.progress import Progress
from assay.pipeline.provenance import new_run_id
from assay.pipeline.run_suites import SuiteRequest, chosen_cases
from assay.pipeline.suite_cases.durations import is_run, seconds_of_last_run, write_durations
from assay.pipeline.suite_cases.suite_counts import FILE

NAME = "slurm"
LOOK_S = 2.0
"""Between two looks at the queue, at most ..."""
LOOK_SHARE = 0.05
"""... and of the time that the tasks have taken so far: who waits for seconds is told sooner."""
DURATIONS = "durations.json"
TRIES = 3
"""Of a shard whose task ends without results."""
OWN = (
    "on",
    "shards",
    "shard",
    "durations",
    "history",
    "save",
    "reports",
    "compare_run",
    "alerts",
    "workers",
    "unrecorded",
)
"""Options that a task does not have, or has its own values of."""


def run_on_slurm(options: RunOptions, request: SuiteRequest, progress: Progress, address: str) -> Checked:
    """As `run_suites`, with the models that `request` found. `address` is slurm or slurm://PARTITION. Raises UsageError for what Slurm
    refuses, FewerCases before anything is submitted, WorkerFailed where no shard has results."""
    _refuse(options)
    targets = destinations(options.reports)
    rules = rules_for(options.alerts, None)
    with open_services(options.history, workers=1, progress=progress) as services:
        baseline = services.store.run(options.compare_run).id if options.compare_run else ""
        total = min(options.shards, len(chosen_cases(request, services).cases))
        folder, command = _folder(services), _command(options)
        write_durations(folder / DURATIONS, seconds_of_last_run(command, services.store))
        _lock(request, services)
        copy_histories(services.folder, folder, total)
        models = copy_models(request.sources, folder)
        array = SlurmArray(folder, address.partition("://")[2], options.workers)
        with _ended(array):
            files = _run(array, _script(options, folder, total, models), folder, total, progress)
        if not files:
            raise WorkerFailed(f"no task of Slurm gave any results: {folder}/1.log says why")
        whole = Whole(without_shard(command)[0], baseline, request.sources)
        checked = with_alerts(merge(files, services, whole), services, rules, options.alerts)
        checked = with_known_failures(checked, services, options)
    if options.save:
        save_run(options.save, checked)
    for destination in targets:
        destination.write(checked)
    return checked


def _refuse(options: RunOptions) -> None:
    if options.shard not in ("", "1/1") or options.only or options.durations:
        raise UsageError("--on slurm makes the shards itself: leave --shard, --durations and --only out")
    if options.unrecorded:
        raise UsageError("--on slurm records the whole run, and its shards record nothing: leave --unrecorded out")
    if options.only_kind == "measure":
        raise UsageError(
            "--on slurm verifies only: times of several nodes are not those of one machine; measure with --on here, on a node of your own"
        )
    if not is_run(options.command):
        raise UsageError("--on slurm repeats the command line of `assay run` on the nodes: call that")


def _folder(services: Services) -> Path:
    folder = (services.folder / NAME / new_run_id(datetime.now(UTC))).absolute()
    folder.mkdir(parents=True)
    return folder


def _lock(request: SuiteRequest, services: Services) -> None:
    """Environments are resolved once, for all tasks. One that cannot be is said by the results of its flows."""
    for name in dict.fromkeys(flow.environment for flow in request.flows if flow.environment):
        with suppress(EnvironmentFailed):
            services.interpreter(name)


def copy_histories(history: Path, folder: Path, total: int) -> None:
    """What a task has to know of the history: how many cases a suite had, and what its environments hold."""
    for number in range(1, total + 1):
        own = folder / f"history-{number}"
        (own / "environments").mkdir(parents=True)
        for path in (history / "environments").glob("*.lock"):
            shutil.copyfile(path, own / "environments" / path.name)
        if (history / FILE).is_file():
            shutil.copyfile(history / FILE, own / FILE)


def copy_models(sources: Sequence[ModelSource], folder: Path) -> dict[str, Path]:
    """By how it was named: every task tests these very files, whatever a branch is by then."""
    copies = {}
    for number, source in enumerate(sources):
        path, own = Path(source.path), folder / "models" / str(number)
        shutil.copytree(path.parent, own)
        copies[source.named] = own / path.name
    return copies


def _command(options: RunOptions) -> str:
    return shlex.join(without(RunOptions, shlex.split(options.command), OWN))


def _with_models(word: str, models: Mapping[str, Path]) -> str:
    if not word.startswith(MINED):
        return word
    return MINED + ",".join(str(models.get(as_written(part), part)) for part in word.removeprefix(MINED).split(","))


def _script(options: RunOptions, folder: Path, total: int, models: Mapping[str, Path]) -> str:
    """A task whose shard another one has begun has nothing to do, and starts no Python for it. Slurm says how many cores it has."""
    words = [_with_models(word, models) for word in shlex.split(_command(options))[1:]]
    here = shlex.quote(str(folder))
    workers = options.workers or '"${SLURM_CPUS_ON_NODE:-0}"'
    return f"""#!/bin/sh
n=$SLURM_ARRAY_TASK_ID
claim={here}/$n.of-$SLURM_ARRAY_JOB_ID
[ -f "$claim" ] && [ "$(cat "$claim")" != "$n" ] && exit 0
exec {shlex.quote(sys.executable)} -P -m assay.cli.slurm_task {here} {total} {shlex.join(words)} \\
  --durations {here}/{DURATIONS} --unrecorded --alerts off --on {HERE} --workers {workers}
"""


def _run(array: SlurmArray, script: str, folder: Path, total: int, progress: Progress) -> list[Path]:
    """The files of the shards that came, in their order. Tasks that wait when all have come have nothing to do."""
    every = set(range(1, total + 1))
    come: set[int] = set()
    for _ in range(TRIES):
        array.submit(script, every - come)
        waiting = every - come
        begin = looked = time.monotonic()
        while waiting and come != every:
            time.sleep(LOOK_S / 20)
            now = time.monotonic()
            if now - looked >= min(LOOK_S, max(LOOK_S / 8, LOOK_SHARE * (now - begin))):
                waiting, looked = array.waiting(), now
            for number in sorted(every - come):
                results = _results(folder / f"{number}.run")
                if results is not None:
                    come.add(number)
                    progress.doing(
                        f"shard {number} of {total} has come with {counted(results, 'result', 'results')}, "
                        f"{counted(len(come), 'shard', 'shards')} in all"
                    )
        if come == every:
            if waiting:
                array.cancel()
            break
    return [folder / f"{number}.run" for number in sorted(come)]


def _results(path: Path) -> int | None:
    """How many came; None where none did. What cannot be read is of a disk that was full, or a node that went: it is made again."""
    try:
        return len(saved_run(path)[1]) if path.is_file() else None
    except UsageError:
        path.unlink(missing_ok=True)
        return None


@contextmanager
def _ended(array: SlurmArray) -> Iterator[None]:
    """Interrupted, nothing is left in the queue. Where Slurm itself does not answer, its tasks are worth what they have done."""
    try:
        yield
    except SlurmUnreachable:
        raise
    except BaseException:
        if left := " ".join(array.cancel()):
            print(
                f"assay: Slurm may have jobs of this run left: `scancel {left}` ends them", file=sys.stderr, flush=True
            )
        raise
