"""Which run a comparison is asked for: an id, or the newest complete one of a branch, a kind of machine, a commit, a version."""

from __future__ import annotations

import re

from assay.errors import RunNotFound, UsageError
from assay.ports import RunSearch, RunSummary
from assay.web.site import Site

VERSION = "version"
SEARCHES = ("branch", "machine", "commit", VERSION)
"""Before a colon: `branch:main`, `version:onnxruntime=1.20.0`."""
LOOKED_AT = 50
"""Of the newest runs: some are under way, or were stopped."""


COMMIT = "[0-9a-fA-F]{4,64}"


def named_run(site: Site, written: str, before: str = "") -> str:
    """An id; what is no search stays as it is. `before` is the id of a run: the newest of those that began earlier. Raises RunNotFound,
    UsageError."""
    kind, colon, name = written.partition(":")
    if not colon or kind not in SEARCHES:
        return written
    _check(written, kind, name)
    # Also that there is none is kept.
    run, looked_at = site.moving.get(("named", written, before), lambda: _newest(site, kind, name, before))
    if run:
        return run
    earlier = f" before {before}" if before else ""
    if not looked_at:
        raise RunNotFound(f"no run{earlier} is of {kind} {name}: `assay runs` lists them")
    if kind == VERSION:
        raise RunNotFound(
            f"no complete one of the newest {looked_at} runs{earlier} has {name}: `assay runs` lists them"
        )
    raise RunNotFound(
        f"none of the newest {looked_at} runs{earlier} of {kind} {name} is complete: `assay runs` lists them"
    )


def _check(written: str, kind: str, name: str) -> None:
    package, _, version = name.partition("=")
    if not name or (kind == VERSION and not (package and version)):
        raise UsageError(f"{written!r} names no run: write {kind}:{'PACKAGE=VERSION' if kind == VERSION else 'NAME'}")
    if kind == "commit" and not re.fullmatch(COMMIT, name):
        raise UsageError(
            f"{written!r} names no run: write commit:DIGEST, of which the first 4 hexadecimal digits or more"
        )


def _newest(site: Site, kind: str, name: str, before: str) -> tuple[str, int]:
    """The newest complete one, or "", and how many were looked at."""
    searches = {
        "branch": RunSearch(branch=name, before=before),
        "machine": RunSearch(machine=name, before=before),
        "commit": RunSearch(commit=name.lower(), before=before),
        VERSION: RunSearch(before=before),
    }
    runs = site.store.runs(LOOKED_AT, searches[kind])
    if kind == "machine":
        runs = _of_one_kind(name, runs)
    complete = (run.id for run in runs if run.status == "complete")
    if kind == VERSION:
        package, _, version = name.partition("=")
        complete = (run for run in complete if site.store.run_facts(run).versions.get(package) == version)
    return next(complete, ""), len(runs)


def _of_one_kind(name: str, runs: list[RunSummary]) -> list[RunSummary]:
    """A kind as a whole, its processor ("N100" of "N100, 4 cores, 16 GiB"), or else a part. Raises UsageError where several are so named:
    no run of N1000 is compared for one of N100."""
    written = name.lower()
    whole = [run for run in runs if run.machine.lower() == written]
    processor = [run for run in runs if run.machine.lower().startswith(f"{written},")]
    named = whole or processor or runs
    kinds = sorted({run.machine for run in named})
    if len(kinds) > 1:
        raise UsageError(f"machine:{name} names several kinds ({'; '.join(kinds)}): write one of them whole")
    return named
