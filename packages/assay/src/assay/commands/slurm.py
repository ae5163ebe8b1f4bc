"""`assay run --on slurm`: an array of few large shards, whose results are merged. A shard that is missing is run again, and judged as
missing where it does not come."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from assay.commands.alerting import rules_for, with_alerts
from assay.commands.composition import open_services
from assay.commands.reporting import destinations
from assay.errors import SlurmUnreachable, UsageError, WorkerFailed
from assay.launch.slurm import SlurmArray
from assay.options.arguments import without
from assay.options.run import RunOptions
from assay.pipeline.merge import merge, saved_run
from assay.pipeline.open_run import Checked
from assay.pipeline.progress import Progress
from assay.pipeline.provenance import new_run_id
from assay.pipeline.services import Services
from assay.pipeline.shares import balanced, is_run, seconds_of_last_run, write_shares

NAME = "slurm"
LOOK_S = 2.0
"""Between two looks at the queue."""
TRIES = 3
"""Of a shard whose task ends without results."""
OWN = ("on", "shards", "shard", "shares", "history", "save", "reports", "compare_run", "alerts")
"""Options that a task does not have, or has its own values of."""


def is_slurm(place: str) -> bool:
    return place.partition("://")[0] == NAME


def run_on_slurm(options: RunOptions, progress: Progress) -> Checked:
    """As `run_suites`. Raises UsageError for what Slurm refuses, WorkerFailed where no shard has results."""
    if options.shard != "1/1" or options.only:
        raise UsageError("--on slurm makes the shards itself: leave --shard and --only out")
    if not is_run(options.command):
        raise UsageError("--on slurm repeats the command line of `assay run` on the nodes: call that")
    wanted = destinations(options.reports)
    rules = rules_for(options.alerts, None)
    with open_services(options.history, workers=1, progress=progress) as services:
        folder = _folder(services)
        write_shares(
            folder / "shares.json", balanced(seconds_of_last_run(_command(options), services.store), options.shards)
        )
        array = SlurmArray(folder, options.on.partition("://")[2])
        with _ended(array):
            files = _run(array, _script(options, folder), folder, options.shards, progress)
        if not files:
            raise WorkerFailed(f"no task of Slurm gave any results: {folder}/1.log says why")
        checked = with_alerts(merge(files, services), services, rules, options.alerts)
    for destination in wanted:
        destination.write(checked)
    return checked


def _folder(services: Services) -> Path:
    folder = (services.folder / NAME / new_run_id(datetime.now(UTC))).absolute()
    folder.mkdir(parents=True)
    return folder


def _command(options: RunOptions) -> str:
    return shlex.join(without(RunOptions, shlex.split(options.command), OWN))


def _script(options: RunOptions, folder: Path) -> str:
    """Exit 1 says that cases fail: no task of Slurm fails by that. The results have their name when they are whole."""
    words = shlex.split(_command(options))[1:]
    here = shlex.quote(str(folder))
    return f"""#!/bin/sh
n=$SLURM_ARRAY_TASK_ID
rm -f {here}/$n.part
{shlex.quote(sys.executable)} -m assay {shlex.join(words)} --shard "$n/{options.shards}" --shares {here}/shares.json \\
  --history {here}/history-$n --save {here}/$n.part --alerts off
code=$?
[ -f {here}/$n.part ] && mv {here}/$n.part
[ $code -eq 1 ] && exit 0
exit $code
"""


def _run(array: SlurmArray, script: str, folder: Path, total: int, progress: Progress) -> list[Path]:
    """The files of the shards that came, in their order."""
    every = set(range(1, total + 1))
    come: set[int] = set()
    for attempt in range(TRIES):
        array.submit(script, every - come)
        waiting = every - come
        while waiting:
            time.sleep(LOOK_S if attempt or come else LOOK_S / 4)
            waiting = array.waiting()
            for number in sorted(every - come):
                results = _results(folder / f"{number}.run")
                if results is not None:
                    come.add(number)
                    progress.doing(
                        f"shard {number} of {total} has come with {results} results, {len(come)} shards in all"
                    )
        if come == every:
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
