"""From findings to named checks: one for each finding, and one for every part that nothing was found in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay.core.model_finding import Area, ModelFinding, Severity
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.compliance.request import RUNAWAY
from assay_zoo.compliance.sentences import sentence
from assay_zoo.zoo_files import METADATA

MOST = 50
"""Findings told of one part of a model; a broken export repeats itself."""
COSTLY = (*RUNAWAY, "checker-died")
"""Codes after which a model is run nowhere: it would take all memory, or not end."""
CLAIMED = ("claimed-opset", "claimed-names", "claimed-port")
"""Codes of what the metadata say: the model itself may be sound."""
ASKED = ("branch-by-values", "unread-data")
"""Codes of what is sound, and may hide something."""
_REMARKS = 3
_COUNTED = {
    Area.MODEL: ("the model's header, imports, metadata and external data", ""),
    Area.GRAPH: ("graphs ({}) and tensors ({})", "graphs tensors"),
    Area.NODE: ("nodes ({})", "nodes"),
    Area.ATTRIBUTE: ("attributes ({})", "attributes"),
    Area.FUNCTION: ("functions of the model ({})", "functions"),
}
"""What a passed check speaks of, and which counts it needs."""


def report(
    findings: Sequence[ModelFinding], counts: Mapping[str, int], path: str, seconds: float, unseen: str = ""
) -> list[Check]:
    """`seconds`: of all checks together. `unseen` says why the parts without findings cannot be called sound: they are skipped."""
    checks: list[Check] = []
    for area in Area:
        own = [finding for finding in findings if finding.area is area]
        failed = [model_finding for model_finding in own if model_finding.severity is not Severity.REMARK]
        checks += [
            msgspec.structs.replace(
                _check(
                    area,
                    CheckOutcome.UNDECIDED if model_finding.code in ASKED else CheckOutcome.FAILED,
                    sentence(model_finding),
                    METADATA if model_finding.code in CLAIMED else path,
                    1,
                ),
                stops=model_finding.severity is Severity.INVALID or model_finding.code in COSTLY,
                costly=model_finding.code in COSTLY,
            )
            for model_finding in failed[:MOST]
        ]
        if len(failed) > MOST:
            more = f"{len(failed) - MOST} more findings of this kind of part are not listed"
            checks.append(_check(area, CheckOutcome.FAILED, more, path, 1))
        if not failed and unseen:
            checks.append(_check(area, CheckOutcome.SKIPPED, f"not wholly looked at: {unseen}", path, 0))
        elif not failed:
            remarks = [sentence(model_finding) for model_finding in own if model_finding.severity is Severity.REMARK]
            checks.append(_check(area, CheckOutcome.PASSED, _passed(area, counts, remarks), path, 1))
    return [msgspec.structs.replace(checks[0], seconds=seconds), *checks[1:]]


def _passed(area: Area, counts: Mapping[str, int], remarks: Sequence[str]) -> str:
    words, names = _COUNTED[area]
    text = f"{words.format(*(counts.get(name, 0) for name in names.split()))} follow the specification"
    if not remarks:
        return text
    more = f"; and {len(remarks) - _REMARKS} more" if len(remarks) > _REMARKS else ""
    return f"{text}; worth knowing: {'; '.join(remarks[:_REMARKS])}{more}"


def _check(area: Area, outcome: CheckOutcome, sentence: str, path: str, executed: int) -> Check:
    return Check(f"compliance.{area}", outcome, sentence, path, executed=executed)
