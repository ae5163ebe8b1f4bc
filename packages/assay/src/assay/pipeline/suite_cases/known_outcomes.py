"""Known outcomes of a flow as data: expectations/<flow>.toml, read into the policy, rewritten from a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field

from assay.config.toml_errors import read
from assay.config.value_types import JUDGED, Date, OutcomeName, Reason, StageName
from assay.core.policy import Expectation
from assay.core.result import Result
from assay.errors import each
from assay.judge.expectations import is_of_version, matches
from assay.pipeline.suite_cases.expect_reason import cause_of, reason_of, says_cause

SHIPPED = "shipped"
"""The name of the outcomes that come with Assay: of the releases that it was tested with."""


class ExpectedOutcome(msgspec.Struct, frozen=True):
    """One entry of the file: the same outcome of several cases (globs), for the same reason. Not `strict`: by chance a case may pass, or
    end in another way that an entry names. `versions`: see `core.policy.Expectation`."""

    outcome: str
    stage: str
    reason: str
    cases: tuple[str, ...]
    issue: str = ""
    expires: str = ""
    strict: bool = True
    versions: tuple[str, ...] = ()


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    outcome: OutcomeName
    stage: StageName = ""
    reason: Reason
    issue: str = ""
    expires: Date | None = None
    strict: bool = True
    versions: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+==.+$")]] = []
    cases: Annotated[list[str], Field(min_length=1)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    expect: list[_Entry] = []


def read_expected(path: Path) -> tuple[ExpectedOutcome, ...]:
    """The entries of one file, none where there is no file. Raises BadPolicy, naming file, line and key."""
    if not path.exists():
        return ()
    parsed = read(path).validate(_File)
    return tuple(
        ExpectedOutcome(
            entry.outcome,
            entry.stage,
            entry.reason,
            tuple(entry.cases),
            entry.issue,
            entry.expires.isoformat() if entry.expires else "",
            entry.strict,
            tuple(entry.versions),
        )
        for entry in parsed.expect
    )


def expectations_folder(folder: str) -> Path:
    """The word `SHIPPED` is the folder of Assay's own; `./shipped` and all else is a path."""
    return Path(__file__).parents[2] / "expectations" if folder == SHIPPED else Path(folder)


def expectations(folder: Path, flows: Sequence[str], suites: Sequence[str]) -> tuple[Expectation, ...]:
    """Of these flows, for the cases of these suites: expectations of other suites do not judge the run."""
    files = each(flows, lambda flow: read_expected(folder / f"{flow}.toml"))
    return tuple(
        Expectation(
            case,
            flow,
            expected_outcome.outcome,
            expected_outcome.reason,
            expected_outcome.issue,
            expected_outcome.expires,
            "*",
            expected_outcome.strict,
            expected_outcome.stage,
            expected_outcome.versions,
        )
        for flow, known in zip(flows, files, strict=True)
        for expected_outcome in known
        for case in expected_outcome.cases
        if any(matches(suite, case.partition("/")[0]) for suite in suites)
    )


def updated(known: Sequence[ExpectedOutcome], results: Sequence[Result]) -> tuple[ExpectedOutcome, ...]:
    """The entries as the results of one flow would have them.

    An entry keeps the cases that still end so, and those that were not run; a glob stays while any case it names ends
    so. An entry that is not strict keeps all, since another run may end so again. What no entry explains joins the entry of its cause:
    the one whose cases ended for the same cause, in whatever words a person put it; where that is none, or several that people told
    apart, the one that has the flow's own words. Else it becomes one with those, for a person to put better words to.
    """
    by_case = {result.case: result for result in results}
    kept: list[ExpectedOutcome] = []
    explained: set[str] = set()
    causes: dict[tuple[str, str, str], set[int]] = {}
    for expected_outcome in known:
        cases = tuple(case for case in expected_outcome.cases if _stays(case, expected_outcome, by_case))
        own = [result for name, result in by_case.items() if _ends(result, expected_outcome) and _any(name, cases)]
        explained |= {result.case for result in own}
        for result in filter(says_cause, own):
            causes.setdefault((*_ending(result), cause_of(result)), set()).add(len(kept))
        if cases:
            kept.append(replace(expected_outcome, cases=cases))
    by_words: dict[tuple[str, str, str], int] = {}
    for number, entry in enumerate(kept):
        if _takes_more(entry):
            by_words.setdefault((entry.outcome, entry.stage, entry.reason), number)
    joined: dict[int, set[str]] = {}
    new: dict[tuple[str, str, str], set[str]] = {}
    for result in results:
        if result.outcome.value in JUDGED and result.case not in explained:
            words = (*_ending(result), reason_of(result))
            same_cause = causes.get((*_ending(result), cause_of(result)), set())
            takes = [number for number in same_cause if _takes_more(kept[number])]
            if len(takes) == 1:
                joined.setdefault(takes[0], set()).add(result.case)
            elif words in by_words:
                joined.setdefault(by_words[words], set()).add(result.case)
            else:
                new.setdefault(words, set()).add(result.case)
    grown = [
        replace(entry, cases=tuple(sorted({*entry.cases, *joined[number]}))) if number in joined else entry
        for number, entry in enumerate(kept)
    ]
    added = [ExpectedOutcome(*words, cases=tuple(sorted(cases))) for words, cases in sorted(new.items())]
    return (*grown, *added)


def _ending(result: Result) -> tuple[str, str]:
    return result.outcome.value, result.stage.value


def _takes_more(entry: ExpectedOutcome) -> bool:
    """What has an end or an issue of its own speaks of its own cases alone."""
    return entry.strict and not (entry.issue or entry.expires or entry.versions)


def to_toml(flow: str, known: Sequence[ExpectedOutcome]) -> str:
    """The text of the file: equal entries give equal text."""
    lines = [
        f"# Known outcomes of {flow}: accepted while they last. An unexpected pass fails the run.",
        "# `assay expect update RUN` rewrites this file and shows what changes; put better words to the reasons.",
    ]
    for expected_outcome in known:
        lines += ["", "[[expect]]", f"outcome = {_text(expected_outcome.outcome)}"]
        lines += [f"stage = {_text(expected_outcome.stage)}"] if expected_outcome.stage else []
        lines += [f"reason = {_text(expected_outcome.reason)}"]
        lines += [f"issue = {_text(expected_outcome.issue)}"] if expected_outcome.issue else []
        lines += [f"expires = {expected_outcome.expires}"] if expected_outcome.expires else []
        lines += [] if expected_outcome.strict else ["strict = false"]
        lines += (
            [f"versions = [{', '.join(map(_text, expected_outcome.versions))}]"] if expected_outcome.versions else []
        )
        lines += ["cases = [", *(f"  {_text(case)}," for case in expected_outcome.cases), "]"]
    return "\n".join(lines) + "\n"


def _stays(case: str, expected_outcome: ExpectedOutcome, by_case: Mapping[str, Result]) -> bool:
    run = [
        result
        for name, result in by_case.items()
        if expected_outcome.strict and matches(name, case) and is_of_version(result.versions, expected_outcome.versions)
    ]
    return not run or any(_ends(result, expected_outcome) for result in run)


def _ends(result: Result, expected_outcome: ExpectedOutcome) -> bool:
    same = result.outcome.value == expected_outcome.outcome and expected_outcome.stage in ("", result.stage.value)
    return same and is_of_version(result.versions, expected_outcome.versions)


def _any(name: str, globs: Sequence[str]) -> bool:
    return any(matches(name, glob) for glob in globs)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
