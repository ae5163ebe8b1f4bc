"""Causes that triage and fuzzing found, each with its life: first seen, last seen, fixed in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.digest import value_digest
from assay.core.outcome import Outcome
from assay.environments.releases import release_key
from assay.errors import UsageError
from assay.fuzz.corpus import CAUSES, Bucket, Corpus
from assay.ports import RunSearch
from assay.triage.cause import Cause, from_json
from assay.triage.known_causes import read_causes
from assay.triage.triage_text import known, lines, title_of, workaround
from assay.web.answer import Answer, NotFound, page_number
from assay.web.site import Site

SHOWN = 50
LOOKED_AT = 300
"""Runs of a cell in which its life is looked for."""
LONGEST = 200
HEADER = (
    *("id", "found_by", "state", "status", "backend", "flow", "case", "title", "count", "first_at", "first_run"),
    *("last_at", "last_run", "fixed_in", "fixed_run", "known"),
)


class CauseLife(msgspec.Struct, frozen=True):
    """`found_by` is triage or fuzz, `status` what the latter says of it. Of triage the runs are those of the cell that it explains: the
    first and the last red one of the newest time that it was red, and the first that was ok again, all of the branch of the last
    red one. `fixed_in` is a release of the backend, `installed` whether that or a later one is installed here."""

    id: str
    found_by: str
    status: str
    backend: str
    flow: str
    case: str
    title: str
    operators: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    count: int = 1
    first_at: str = ""
    last_at: str = ""
    first_run: str = ""
    last_run: str = ""
    fixed_in: str = ""
    fixed_run: str = ""
    installed: bool = False
    known: str = ""
    workaround: str = ""
    lines: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """open, known, or fixed: ok again here, or met by fuzzing and gone with the release that is installed."""
        if self.fixed_run or (self.found_by == "fuzz" and self.installed):
            return "fixed"
        return "known" if self.known else "open"

    @property
    def seen(self) -> str:
        """When last, for the order of the list."""
        return self.last_at or self.first_at


class Causes(msgspec.Struct, frozen=True):
    """One page of them, the open ones first. `all` counts those of every page."""

    causes: tuple[CauseLife, ...]
    all: int


def causes(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises UsageError for a text that is too long, NotFound behind the last page."""
    text = query.get("q", "").strip().lower()
    if len(text) > LONGEST:
        raise UsageError(f"what is searched for has {len(text)} characters; it may have {LONGEST}")
    cause_lives = [life for life in read_lives(site) if _fits(life, text, query)]
    page = page_number(query.get("page", ""))
    shown = cause_lives[(page - 1) * SHOWN : page * SHOWN]
    if page > 1 and not shown:
        raise NotFound("there is no such page: it lies behind the last one")
    values = {"causes": shown, "all": len(cause_lives), "page": page, "more": len(cause_lives) > page * SHOWN}
    return Answer(
        "causes.html.j2",
        values,
        Causes(tuple(shown), len(cause_lives)),
        HEADER,
        [_row(cause_life) for cause_life in cause_lives],
    )


def cause(site: Site, query: Mapping[str, str]) -> Answer:
    """One of them."""
    identity = query.get("id", "")
    shown_life = next((life for life in read_lives(site) if life.id == identity), None)
    if shown_life is None:
        raise NotFound("no cause has that id here: /causes lists them")
    return Answer("cause.html.j2", {"cause": shown_life}, shown_life, HEADER, [_row(shown_life)])


def read_lives(site: Site) -> list[CauseLife]:
    """As they were at most a minute ago."""
    return site.minutes.get("causes", lambda: _read(site))


def _read(site: Site) -> list[CauseLife]:
    cause_lives = [*_of_triage(site), *_of_fuzzing(site.folder)]
    newest_first = sorted(cause_lives, key=lambda life: life.seen, reverse=True)
    return sorted(newest_first, key=lambda life: ("open", "known", "fixed").index(life.state))


def _of_triage(site: Site) -> Iterator[CauseLife]:
    for kept_cause in read_causes(site.folder):
        case, flow, kind = (
            kept_cause.job_key.rsplit("|", 2)
            if kept_cause.job_key.count("|") >= 2
            else (kept_cause.model, kept_cause.flow, "")
        )
        yield _with_runs(
            site,
            CauseLife(
                id=cause_id(kept_cause.folder, kept_cause.job_key),
                found_by="triage",
                status=kept_cause.where.value,
                backend=kept_cause.backend,
                flow=flow,
                case=case,
                title=title_of(kept_cause),
                operators=kept_cause.operators,
                versions=kept_cause.versions,
                first_at=kept_cause.found_at,
                fixed_in=kept_cause.since.good_again,
                known=known(kept_cause) if kept_cause.known_title else "",
                workaround=workaround(kept_cause),
                lines=tuple(lines(kept_cause)),
            ),
            kind,
        )


def _with_runs(site: Site, cause_life: CauseLife, kind: str) -> CauseLife:
    """From the runs of its cell, the newest first: those that are ok again, and before them those that were not."""
    past = [job for job in site.store.cell_runs(cause_life.case, cause_life.flow, LOOKED_AT) if job.kind == kind]
    last_red = next((job.run for job in past if job.outcome != Outcome.OK.value), "")
    if not last_red:
        return cause_life
    of_branch = _runs_of(site, site.store.run_facts(last_red).branch)
    past = [job for job in past if job.run in of_branch or job.run == last_red]
    again = 0
    while again < len(past) and past[again].outcome == Outcome.OK.value:
        again += 1
    red: list[str] = []
    for job in past[again:]:
        if job.outcome == Outcome.OK.value:
            break
        red.append(job.run)
    fixed = past[again - 1].run if again else ""
    return msgspec.structs.replace(cause_life, first_run=red[-1], last_run=red[0], fixed_run=fixed)


def _runs_of(site: Site, branch: str) -> frozenset[str]:
    """The newest of a branch, "" too."""

    def read() -> frozenset[str]:
        run_summaries = site.store.runs(LOOKED_AT, RunSearch(branch=branch))
        return frozenset(run_summary.id for run_summary in run_summaries if run_summary.branch == branch)

    return site.minutes.get(("runs of", branch), read)


def _is_installed(bucket: Bucket, release: str) -> bool:
    """Whether that release or a later one of the backend is here; not known of a flow in an environment of its own."""
    if not release or "@" in bucket.flow:
        return False
    here = plugins.availability(bucket.backend).version
    return bool(here) and release_key(here) >= release_key(release)


def _of_fuzzing(folder: Path) -> Iterator[CauseLife]:
    try:
        session = Corpus(folder / "fuzz").read()
    except UsageError:
        return  # it is of another version: the others are shown
    for bucket in session.buckets.values() if session else ():
        if bucket.status in CAUSES and bucket.count:  # known ones are there before they are met
            yield _life_of(bucket)


def _life_of(bucket: Bucket) -> CauseLife:
    deep = _cause_of(bucket.folder)
    fixed_in = deep.since.good_again if deep else ""
    return CauseLife(
        id=bucket.key[:24],
        found_by="fuzz",
        status=bucket.status,
        backend=bucket.backend,
        flow=bucket.flow,
        case="",
        title=bucket.title,
        operators=bucket.operators,
        versions=bucket.versions,
        count=bucket.count,
        first_at=bucket.found_at,
        last_at=bucket.last_at or bucket.found_at,
        fixed_in=fixed_in,
        installed=_is_installed(bucket, fixed_in),
        known=bucket.known,
        workaround=bucket.workaround,
        lines=tuple(lines(deep)) if deep else ((bucket.detail,) if bucket.detail else ()),
    )


def _cause_of(folder: str) -> Cause | None:
    """What triage wrote of a bucket; None where it did not, or where that is gone."""
    if folder:
        with suppress(OSError, msgspec.MsgspecError):
            return from_json((Path(folder) / "cause.json").read_bytes(), Cause)
    return None


def cause_id(folder: str, job_key: str) -> str:
    """Of a cause that triage found."""
    return value_digest((folder, job_key))[:24]


def _fits(cause_life: CauseLife, text: str, query: Mapping[str, str]) -> bool:
    asked = (("backend", cause_life.backend), ("state", cause_life.state), ("found_by", cause_life.found_by))
    words = " ".join(
        (cause_life.title, cause_life.case, cause_life.flow, cause_life.known, *cause_life.operators)
    ).lower()
    return text in words and all(query.get(name, "") in ("", value) for name, value in asked)


def _row(cause_life: CauseLife) -> Sequence[object]:
    return tuple(getattr(cause_life, name) for name in HEADER)
