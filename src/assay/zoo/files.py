"""Group `files`: what was handed in, file by file, before anything in it is opened."""

from __future__ import annotations

from assay.zoo.check import Check, CheckOutcome
from assay.zoo.intake import Intake, Problem, take_in
from assay.zoo.place import Place, Tools

_SENTENCES = {
    Problem.LINK: ("files.links", "is a link: hand in the file itself"),
    Problem.HARD_LINK: ("files.links", "is a hard link: hand in a copy of its own"),
    Problem.SPECIAL: ("files.links", "is no regular file: remove it"),
    Problem.TOO_LARGE: ("files.sizes", "is larger than a file of this zoo may be"),
    Problem.TOTAL: ("files.sizes", "takes the submission past the total size of this zoo"),
    Problem.TOO_MANY: ("files.sizes", "is one file more than this zoo takes"),
    Problem.TOO_DEEP: ("files.names", "lies too deep"),
    Problem.NAME: ("files.names", "has a hostile name"),
    Problem.UNREADABLE: ("files.readable", "cannot be read"),
    Problem.CHANGED: ("files.readable", "changed while it was read: check again"),
}


def check_files(place: Place, tools: Tools) -> list[Check]:
    """Links, sizes and names for now."""
    taken = place.intake or take_in(place.folder, tools.scratch / "intake", place.policy.files)
    return _refused(taken) or [
        Check(
            name="files.digest",
            outcome=CheckOutcome.PASSED,
            sentence=f"{len(taken.taken)} files, {sum(one.size for one in taken.taken)} bytes",
            executed=1,
        )
    ]


def _refused(taken: Intake) -> list[Check]:
    checks = []
    for one in taken.entries:
        if one.problem is not None:
            name, told = _SENTENCES[one.problem]
            sentence = f"{one.path} {told} ({one.detail})"
            checks.append(Check(name=name, outcome=CheckOutcome.FAILED, sentence=sentence, path=one.path, executed=1))
    return checks
