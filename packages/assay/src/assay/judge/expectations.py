"""Known outcomes: accepted while they last, failing when they are gone, expired or about nothing."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from assay.core.policy import Expectation, Policy
from assay.core.verdict import Verdict, VerdictStatus
from assay.errors import BadPolicy
from assay.judge.draft_verdict import DraftVerdict
from assay.judge.outcome_table import COMPARED


def matches(name: str, glob: str) -> bool:
    """A shell glob, or the name itself (which may hold brackets)."""
    return name == glob or fnmatchcase(name, glob)


def is_of_version(versions: Mapping[str, str], known: Sequence[str]) -> bool:
    """Whether one of `known` (`onnxruntime==1.31.*`) is among the distributions of a result; with none known: always. A process that ended
    before it said its versions may be of any."""
    named = (requirement.partition("==") for requirement in known)
    return (
        not known or not versions or any(name in versions and matches(versions[name], glob) for name, _, glob in named)
    )


def with_expectations(
    opinions: Sequence[DraftVerdict], policy: Policy, today: datetime.date
) -> tuple[list[DraftVerdict], list[Verdict]]:
    """Expected outcomes become xfail, unexpected passes xpass; an expired expectation fails its jobs.

    The second value holds one failing verdict on the run for each expectation that matches no job at all.
    """
    if not policy.expectations:
        return list(opinions), []
    candidates = _by_case(policy.expectations)
    named = [[e for e in candidates(opinion.cell[0]) if _named(e, opinion)] for opinion in opinions]
    covering = [
        [e for e in naming if _covers(e, opinion) and _of(opinion, e)]
        for naming, opinion in zip(named, opinions, strict=True)
    ]
    met = {
        (e, opinion.cell)
        for covering_here, opinion in zip(covering, opinions, strict=True)
        for e in covering_here
        if _meets(opinion, e)
    }
    judged = [
        _judged(opinion, covering_here, [e for e in covering_here if (e, opinion.cell) in met], today)
        for covering_here, opinion in zip(covering, opinions, strict=True)
    ]
    judged = [
        draft_verdict if covering_here else _on_another_version(draft_verdict, every)
        for every, covering_here, draft_verdict in zip(named, covering, judged, strict=True)
    ]
    used = {e for of_case in named for e in of_case}
    return judged, [_unused(expectation) for expectation in policy.expectations if expectation not in used]


def _by_case(expectations: Sequence[Expectation]) -> Callable[[str], list[Expectation]]:
    """From a case to the expectations that may be about it, in their order: a suite has thousands of both."""
    exact: dict[str, list[tuple[int, Expectation]]] = {}
    globs: list[tuple[int, Expectation]] = []
    for place, expectation in enumerate(expectations):
        exact.setdefault(expectation.case, []).append((place, expectation))
        if set("*?[") & set(expectation.case):
            globs.append((place, expectation))

    def candidates(case: str) -> list[Expectation]:
        named_here = dict(exact.get(case, ()))
        named_here |= {place: e for place, e in globs if matches(case, e.case)}
        return [e for _, e in sorted(named_here.items())]

    return candidates


def _meets(draft: DraftVerdict, expectation: Expectation) -> bool:
    stage = draft.result.stage.value if draft.result is not None else ""
    return draft.outcome == expectation.outcome and expectation.stage in ("", stage)


def _named(expectation: Expectation, draft: DraftVerdict) -> bool:
    case, flow = draft.cell
    return matches(case, expectation.case) and matches(flow, expectation.flow) and matches(draft.kind, expectation.kind)


def _covers(expectation: Expectation, draft: DraftVerdict) -> bool:
    return _named(expectation, draft) and (expectation.outcome not in COMPARED or draft.kind in ("verify", "per_node"))


def _judged(
    draft: DraftVerdict, covering: Sequence[Expectation], met_in_cell: Sequence[Expectation], today: datetime.date
) -> DraftVerdict:
    hits = [expectation for expectation in covering if _meets(draft, expectation)]
    if draft.word is VerdictStatus.ERROR or not covering:
        return draft
    if hits:
        living = [expectation for expectation in hits if not _expired(expectation, today)]
        return _as_expected(draft, living[0]) if living else _too_late(draft, hits[0])
    if met_in_cell:
        return draft  # another job of the same case and flow shows what was expected
    first = covering[0]
    if draft.word is VerdictStatus.PASS and not any(expectation.strict for expectation in covering):
        return replace(draft, reason=f"passed although another outcome was hoped for ({_why(first)}): {draft.reason}")
    if draft.word is VerdictStatus.PASS:
        text = f"unexpected pass ({draft.reason}): {first.outcome} was expected ({_why(first)})"
        return replace(draft, word=VerdictStatus.XPASS, reason=f"{text}; remove the expectation, or narrow its globs")
    if draft.word is VerdictStatus.FAIL:
        return replace(draft, reason=f"{draft.reason}; expected was another outcome: {first.outcome} ({_why(first)})")
    return draft


def _of(draft: DraftVerdict, expectation: Expectation) -> bool:
    return is_of_version(draft.result.versions if draft.result is not None else {}, expectation.versions)


def _on_another_version(draft: DraftVerdict, named: Sequence[Expectation]) -> DraftVerdict:
    """Says what was known of other versions: that it is fixed, or that it is not."""
    first = next((e for e in named if _covers(e, draft) and e.versions and not _of(draft, e)), None)
    if first is None or draft.word not in (VerdictStatus.PASS, VerdictStatus.FAIL):
        return draft
    known = f"{first.outcome} is known of {', '.join(first.versions)} ({_why(first)})"
    if draft.word is VerdictStatus.PASS:
        return replace(draft, reason=f"fixed in this version: {known}; {draft.reason}")
    return replace(
        draft, reason=f"{draft.reason}; {known}: where this version has the defect too, add it to `versions`"
    )


def _as_expected(draft: DraftVerdict, expectation: Expectation) -> DraftVerdict:
    until = f", until {expectation.expires}" if expectation.expires else ""
    text = f"{expectation.outcome} as expected ({_why(expectation)}{until}); observed: {draft.reason}"
    return replace(draft, word=VerdictStatus.XFAIL, reason=text)


def _too_late(draft: DraftVerdict, expectation: Expectation) -> DraftVerdict:
    text = (
        f"the expectation of {expectation.outcome} ({_why(expectation)}) expired on {expectation.expires}: "
        f"fix the cause, or extend it with a reason; observed: {draft.reason}"
    )
    return replace(draft, word=VerdictStatus.FAIL, reason=text)


def _expired(expectation: Expectation, today: datetime.date) -> bool:
    """The day itself still counts as before. Raises BadPolicy for what is no date."""
    if not expectation.expires:
        return False
    try:
        return today > datetime.date.fromisoformat(expectation.expires)
    except ValueError:
        where = f"the expectation of {expectation.outcome} for case '{expectation.case}'"
        raise BadPolicy(f"{where} expires on '{expectation.expires}', which is no date: write 2027-01-31") from None


def _why(expectation: Expectation) -> str:
    return f"{expectation.reason}; {expectation.issue}" if expectation.issue else expectation.reason


def _unused(expectation: Expectation) -> Verdict:
    where = f"case '{expectation.case}' and flow '{expectation.flow}'"
    text = f"the expectation of {expectation.outcome} for {where} matches no job: correct its globs or remove it"
    return Verdict(VerdictStatus.FAIL, text)
