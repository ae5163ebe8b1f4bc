"""Shards of one run, each made on a machine of its own, put together and judged as one."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import msgspec

from assay.core.job_base import FlowJob, Job
from assay.core.policy import Policy
from assay.core.result import AnyResult, Result
from assay.core.run import ModelSource, Run
from assay.errors import NotWritable, UsageError, each
from assay.options.arguments import given_arguments, without
from assay.options.run import RunOptions
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import Checked, judge_run
from assay.pipeline.provenance import new_run_id
from assay.pipeline.suite_cases.expected_timeouts import endless, of_files
from assay.pipeline.suite_cases.suite_select import parse_shard

_MARK = b"assay run 1\n"
_ANY_MARK = re.compile(rb"assay run \d+\n")
LOCAL = ("history", "workers", "durations", "on", "shards", "unrecorded")
"""Options that may differ from machine to machine."""


class _Saved(msgspec.Struct, frozen=True):
    run: Run
    results: tuple[AnyResult, ...]


def save_run(path: Path, checked: Checked) -> None:
    """The run with all its results in one file, which is whole or not there. Raises NotWritable."""
    body = zlib.compress(msgspec.msgpack.encode(_Saved(checked.run, cast("tuple[AnyResult, ...]", checked.results))), 6)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(_MARK + body)
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise NotWritable(f"{path} cannot be written ({error.strerror}); give another file") from None


def saved_run(path: Path) -> tuple[Run, tuple[Result, ...]]:
    """What `save_run` wrote. Raises UsageError."""
    saved = _load(path)
    return saved.run, saved.results


class Whole(msgspec.Struct, frozen=True):
    """What the run is that the shards are of, where whoever shared it out knows: `baseline` is the run that it is compared with, `sources`
    the models that it was asked for by where they come from."""

    command: str
    baseline: str = ""
    sources: tuple[ModelSource, ...] = ()


def merge(
    paths: Sequence[Path],
    services: Services,
    whole: Whole | None = None,
    policy_of: Callable[[Run], Policy | None] = lambda run: None,
) -> Checked:
    """Record the shards as one run and judge what is there: where a shard is missing, the run is no pass. `policy_of` the whole is what it
    is judged by, None: by what its shards were. Raises UsageError where they are not the shards of one run: another command, other models,
    another policy, other shares of the cases, a shard twice or unfinished."""
    saved = list(zip(paths, each(paths, _load), strict=True))
    if not saved:
        raise UsageError("nothing to merge: name the files that `assay run --save FILE` wrote")
    command, _ = without_shard(saved[0][1].run.command)
    shards = _by_number(saved, command)
    totals = sorted({total for _, total in shards})
    missing = sorted(set(range(1, totals[0] + 1)) - {number for number, _ in shards})
    if len(totals) > 1:
        raise UsageError(f"shards of {totals[0]} and of {totals[1]} do not fit together; merge shards of one division")
    _refuse_other_splits([shards[shard] for shard in sorted(shards)])
    ordered = [shards[shard][1] for shard in sorted(shards)]
    absent = tuple(f"{number}/{totals[0]}" for number in missing)
    run = msgspec.structs.replace(_joined(command, [shard.run for shard in ordered]), missing=absent)
    policy = policy_of(run)
    run = msgspec.structs.replace(
        run, policy=policy or _common_policy(run, [shards[shard] for shard in sorted(shards)])
    )
    if whole is not None:
        run = msgspec.structs.replace(run, command=whole.command, baseline=whole.baseline, sources=whole.sources)
    results = tuple(result for shard in ordered for result in shard.results)
    services.store.open_run(run)
    services.store.record(run.id, results)
    judgement = judge_run(run, results, services)
    services.store.close_run(run.id, "complete", judgement)
    return Checked(msgspec.structs.replace(run, status="complete"), results, judgement)


def _common_policy(run: Run, ordered: Sequence[tuple[Path, _Saved]]) -> Policy:
    """That of all shards, with what the endless cases of each bring. Raises UsageError where files changed between them."""
    names = set(endless(job.case for job in run.jobs if isinstance(job, FlowJob)))
    first, known = ordered[0][0], of_files(run.policy, names)
    if changed := [path for path, shard in ordered if of_files(shard.run.policy, names) != known]:
        (folder,) = given_arguments(RunOptions, shlex.split(run.command)).get("expectations", ["expectations"])[-1:]
        raise UsageError(
            f"{changed[0]} and {first} are judged by different files: the policy or the expected outcomes changed between them; "
            f"judge all by what they say now: add `--expectations {shlex.quote(folder)}`, or `--policy FILE`"
        )
    every = dict.fromkeys(expectation for _, saved in ordered for expectation in saved.run.policy.expectations)
    return msgspec.structs.replace(run.policy, expectations=tuple(every))


def _refuse_other_splits(ordered: Sequence[tuple[Path, _Saved]]) -> None:
    """Raises UsageError naming those that most of the shards do not agree with."""
    split = Counter(saved.run.split for _, saved in ordered).most_common(1)[0][0]
    others = [str(path) for path, saved in ordered if saved.run.split != split]
    if others:
        most = next(path for path, saved in ordered if saved.run.split == split)
        raise UsageError(
            f"{', '.join(others)} and {most} did not share out the cases alike: they saw other --durations, or other cases; run "
            f"{', '.join(others)} again with what {most} had (nothing was merged, and every file is as it was)"
        )


def _by_number(saved: Sequence[tuple[Path, _Saved]], command: str) -> dict[tuple[int, int], tuple[Path, _Saved]]:
    """Each shard under its number and how many there are. Raises UsageError for one that is no shard of this command, or not ready."""
    shards: dict[tuple[int, int], tuple[Path, _Saved]] = {}
    for path, shard_run in saved:
        other, shard = without_shard(shard_run.run.command)
        if other != command:
            raise UsageError(
                f"{path} is of another run ('{other}' instead of '{command}'); merge shards of one command"
            )
        if shard in shards:
            raise UsageError(
                f"{path} and {shards[shard][0]} are both shard {shard[0]}/{shard[1]}; name each shard once"
            )
        if shard_run.run.status != "complete":
            raise UsageError(f"{path} is {shard_run.run.status}; finish it with `assay resume` and save it again")
        if different := _other_models(saved[0][1].run, shard_run.run):
            raise UsageError(
                f"{path} and {saved[0][0]} did not test the same model: {different}; name what does not move, and run them again"
            )
        shards[shard] = (path, shard_run)
    return shards


def _other_models(first: Run, other: Run) -> str:
    """What two shards had of one name; "" where that is the same. A branch may go on between them."""
    by_name = {source.named: source for source in first.sources}
    for model_source in other.sources:
        known = by_name.get(model_source.named)
        if known is None:
            return f"'{model_source.named}' is of one of them only"
        if (known.sha256, known.commit) != (model_source.sha256, model_source.commit):
            had = [source.commit[:12] or source.sha256[:12] for source in (model_source, known)]
            return f"'{model_source.named}' was {' and '.join(had)}"
    return "" if len(by_name) == len(other.sources) else "one of them has more models"


def without_shard(command: str) -> tuple[str, tuple[int, int]]:
    """The command of the whole run, and which share of it was run."""
    arguments = shlex.split(command)
    (shard,) = given_arguments(RunOptions, arguments).get("shard", ["1/1"])[-1:]
    return shlex.join(without(RunOptions, arguments, {"shard", *LOCAL})), parse_shard(shard)


def _joined(command: str, runs: Sequence[Run]) -> Run:
    now = datetime.now(UTC)
    jobs: dict[str, Job] = {}
    for run in runs:
        for job in run.jobs:
            if job.key in jobs:
                raise UsageError(f"'{job.key}' is in two of the shards; they were not made by one version of the suite")
            jobs[job.key] = job
    narrowing = not {"filters", "dtypes", "only"}.isdisjoint(given_arguments(RunOptions, shlex.split(command)))
    return msgspec.structs.replace(
        runs[0],
        id=new_run_id(now),
        started_at=min(run.started_at for run in runs),
        command=command,
        jobs=tuple(jobs.values()),
        status="running",
        baseline="",
        narrowed=narrowing,
    )


def _load(path: Path) -> _Saved:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); name a file that `assay run --save` wrote"
        ) from None
    try:
        if not data.startswith(_MARK):
            if _ANY_MARK.match(data):
                raise msgspec.ValidationError("in a form that this one does not read")
            raise ValueError("another kind of file")
        return msgspec.msgpack.decode(zlib.decompress(data[len(_MARK) :]), type=_Saved)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path} was saved by another version of assay ({error}); run that shard again") from None
    except (ValueError, zlib.error, msgspec.DecodeError) as error:
        raise UsageError(f"{path} is no saved run ({error}); name a file that `assay run --save` wrote") from None
