"""The Code Quality report of GitLab, which a merge request shows beside the change: a subset of Code Climate's format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.reports.remarks import WARNING, Remark, remarks

NO_FILE = "assay.toml"
"""GitLab takes no finding without a file."""
GRAVITY = {VerdictStatus.ERROR.value: "blocker", VerdictStatus.INCONCLUSIVE.value: "minor", WARNING: "minor"}
"""Of its five words; what is not here is critical."""


class GitLab:
    """A finding for each remark. Its fingerprint is made of what it is about, so that GitLab tells new findings from old ones
    whatever the numbers in their text."""

    name = "gitlab"
    suffix = ".json"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """`[]` where all is well and nothing was warned of."""
        once: dict[object, dict[str, object]] = {}
        for finding in map(_finding, remarks(run, results, judgement)):
            once.setdefault(finding["fingerprint"], finding)
        return json.dumps(list(once.values()), indent=1) + "\n"


def _finding(remark: Remark) -> dict[str, object]:
    about = remark.title if remark.repeat or remark.word == WARNING else f"{remark.title} {remark.text}"
    return {
        "description": f"{remark.title}: {remark.text}{f' (log: {remark.log})' if remark.log else ''}",
        "check_name": f"assay-{remark.word or 'not-run'}",
        "fingerprint": hashlib.sha256(f"{remark.word}\0{about}".encode()).hexdigest()[:32],
        "severity": GRAVITY.get(remark.word, "critical"),
        "location": {"path": remark.path or NO_FILE, "lines": {"begin": 1}},
    }
