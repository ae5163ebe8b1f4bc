"""A model looked at by the zoo's steps, in this process."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.core.model_finding import ModelFinding, Severity
from assay.models.examination.steps import examine
from assay_zoo.compliance.report import ASKED
from assay_zoo.compliance.request import Request
from assay_zoo.compliance.steps import steps_of


def failures(path: Path, request: Request) -> list[ModelFinding]:
    """What the zoo fails a model for, without what it asks a person about."""
    asked = msgspec.structs.replace(request, model=str(path))
    findings = examine(path, steps_of(asked)).findings
    return [finding for finding in findings if finding.severity is not Severity.REMARK and finding.code not in ASKED]
