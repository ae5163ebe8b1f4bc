"""Which run a comparison is asked for: an id, or the newest complete one of a branch, a kind of machine, a commit, a version."""

from __future__ import annotations

from assay.errors import RunNotFound, UsageError
from assay.ports import RunSearch
from assay.web.site import Site

VERSION = "version"
SEARCHES = ("branch", "machine", "commit", VERSION)
"""Before a colon: `branch:main`, `version:onnxruntime=1.20.0`."""
LOOKED_AT = 50
"""Of the newest runs: some are under way, or were stopped."""


def named_run(site: Site, asked: str) -> str:
    """An id; what is no search stays as it is. Raises RunNotFound, UsageError."""
    kind, colon, name = asked.partition(":")
    if not colon or kind not in SEARCHES:
        return asked
    if not name or (kind == VERSION and "=" not in name):
        raise UsageError(f"{asked!r} names no run: write {kind}:{'PACKAGE=VERSION' if kind == VERSION else 'NAME'}")
    search = RunSearch() if kind == VERSION else RunSearch(**{kind: name})
    complete = [run.id for run in site.store.runs(LOOKED_AT, search) if run.status == "complete"]
    if kind == VERSION:
        package, _, version = name.partition("=")
        complete = [run for run in complete if site.store.run_facts(run).versions.get(package) == version]
    if not complete:
        raise RunNotFound(f"none of the newest {LOOKED_AT} runs of {kind} {name} is complete: `assay runs` lists them")
    return complete[0]
