"""From what the intake saw, and what a limited process saw in each file, to one named check after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.files.finding import Finding, Item
from assay_zoo.files.names import name_problems
from assay_zoo.intake import Entry, Intake, Problem, take_in
from assay_zoo.limited_process import Ending, Looked, run_limited
from assay_zoo.submission import SubmissionContext, SubmissionServices

SHOWN = 20
"""Findings of one check that are told one by one."""
_SECONDS = 60.0
"""For one file: parsing a model of the largest size takes a few."""
_REFUSED = {
    Problem.LINK: ("links", "is a link: hand in the file itself"),
    Problem.HARD_LINK: ("links", "is a hard link: hand in a copy of its own"),
    Problem.SPECIAL: ("links", "is no regular file: remove it"),
    Problem.TOO_LARGE: ("sizes", "is larger than a file of this zoo may be"),
    Problem.TOTAL: ("sizes", "takes the submission past the total size of this zoo"),
    Problem.TOO_MANY: ("sizes", "is one file more than this zoo takes"),
    Problem.TOO_DEEP: ("names", "lies too deep: fewer folders in folders"),
    Problem.NAME: ("names", "has a name that is not taken: rename it"),
    Problem.UNREADABLE: ("readable", "cannot be read"),
    Problem.CHANGED: ("readable", "changed while it was read: check again"),
}
_HOLDS = {
    "sizes": "{files} files, {bytes} bytes in all, within the limits",
    "names": "every name is plain text, no two differ in case only, none is hidden or reserved",
    "links": "no links, no hard links, no special files",
    "pointers": "no Git LFS pointers",
    "readable": "every file is what its name says",
    "external_data": "external data of models lie inside the submission and are long enough",
    "pickles": "no pickles",
    "archives": "no archives, and no arrays that unfold without end",
    "programs": "no compiled code, and none that nothing here can look into",
    "secrets": "no passwords, tokens or private keys",
    "text": "every text is read in the order in which it is shown",
}
"""Every check of the group, and what is true where it finds nothing."""


def check_files(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """One check at least for each of `_HOLDS`, and the digest of the whole."""
    begin = time.perf_counter()
    taken = place.intake or take_in(place.folder, tools.scratch / "intake", place.policy.files)
    looked = _look(place, taken)
    opened = [(entry, finding) for entry, answer in looked for finding in _found(answer)]
    needed = {finding.needs for _, finding in opened}
    checks = [_intake_check(entry, entry.path in needed) for entry in taken.entries if entry.problem]
    checks += [
        _failed("names", sentence, path) for path, sentence in name_problems(entry.path for entry in taken.entries)
    ]
    refused = {entry.path for entry in taken.entries if entry.problem}  # what they miss is told there, with the reason
    checks += [_opened_check(entry, finding) for entry, finding in opened if finding.needs not in refused]
    checks += [_unread(entry, answer) for entry, answer in looked if answer.ending is Ending.ERROR]
    if broken := [answer for _, answer in looked if answer.ending is Ending.HARNESS]:
        return [*_first(_ordered(checks)), _unopened(broken[0])]
    size = sum(entry.size for entry in taken.taken)
    words = {"files": len(taken.taken), "bytes": size}
    failed = {check.name for check in checks}
    checks += [
        Check(f"files.{name}", CheckOutcome.PASSED, sentence.format(**words), executed=1)
        for name, sentence in _HOLDS.items()
        if f"files.{name}" not in failed
    ]
    seconds = time.perf_counter() - begin
    return [*_first(_ordered(checks)), _digest(taken, size, seconds)]


def _look(place: SubmissionContext, taken: Intake) -> list[tuple[Entry, Looked]]:
    model = place.metadata.model if place.metadata else "model.onnx"
    items = [
        Item(
            copy=str(taken.folder / entry.path), path=entry.path, model=entry.path == model,
            unfolded_bytes=place.policy.files.total_bytes,
        )
        for entry in taken.taken
    ]  # fmt: skip
    raw = [msgspec.to_builtins(item) for item in items]
    answers = run_limited(
        "assay_zoo.files.inspect_file:open_file", raw, seconds=_SECONDS, memory_bytes=place.policy.run.memory_bytes
    )
    return list(zip(taken.taken, answers, strict=True))


def _found(answer: Looked) -> list[Finding]:
    """What a file's process said; that it was lost is a finding, too: a file that nothing can open is not readable."""
    if answer.ending is Ending.OK:
        return msgspec.convert(answer.value, list[Finding])
    if answer.ending in (Ending.HARNESS, Ending.ERROR):
        return []
    return [Finding(check="readable", sentence=f"cannot be opened: {answer.sentence}")]


def _intake_check(entry: Entry, of_model: bool) -> Check:
    """`of_model`: without this file no backend opens the model."""
    assert entry.problem is not None
    name, refusal = _REFUSED[entry.problem]
    failed = _failed(name, f"{entry.path} {refusal} (it {entry.detail})", entry.path)
    return msgspec.structs.replace(failed, stops=of_model)


def _opened_check(entry: Entry, finding: Finding) -> Check:
    check = _failed(finding.check, f"{entry.path} {finding.sentence}", entry.path, finding.line)
    return check if finding.certain else msgspec.structs.replace(check, outcome=CheckOutcome.UNDECIDED)


def _failed(name: str, sentence: str, path: str, line: int = 0) -> Check:
    outcome = CheckOutcome.FAILED
    return Check(f"files.{name}", outcome, sentence, path, line, executed=1)


def _unread(entry: Entry, answer: Looked) -> Check:
    """Our reader failed on it: neither its fault for sure nor a machine's, so that a person looks."""
    sentence = f"{entry.path} could not be looked at: {answer.sentence}"
    return Check("files.readable", CheckOutcome.UNDECIDED, sentence, entry.path)


def _unopened(answer: Looked) -> Check:
    return Check("files.readable", CheckOutcome.INFRASTRUCTURE, answer.sentence)


def _ordered(checks: Sequence[Check]) -> list[Check]:
    order = [f"files.{name}" for name in _HOLDS]
    return sorted(
        checks,
        key=lambda check: (order.index(check.name), check.outcome is not CheckOutcome.FAILED, check.path, check.line),
    )


def _first(checks: Sequence[Check]) -> list[Check]:
    """At most `SHOWN` of each name: ten thousand links are one finding with a number."""
    kept: list[Check] = []
    for name in dict.fromkeys(check.name for check in checks):
        group = [check for check in checks if check.name == name]
        kept += group[:SHOWN]
        if len(group) > SHOWN:
            kept.append(
                msgspec.structs.replace(group[SHOWN], sentence=f"and {len(group) - SHOWN} more", path="", line=0)
            )
    return kept


def _digest(taken: Intake, size: int, seconds: float) -> Check:
    left = f"; left out: {', '.join(taken.left_out)}" if taken.left_out else ""
    return Check(
        "files.digest",
        CheckOutcome.PASSED,
        f"the contents are sha256 {taken.digest[:16]}...{left}",
        executed=1,
        seconds=seconds,
        figures={"files": len(taken.taken), "size_bytes": size},
    )
