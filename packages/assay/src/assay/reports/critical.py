"""Critical warnings: what the library of an engine itself warned of, and fusions that the baseline had; a line for each kind, case and
flow."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.changes import RunChanges
from assay.core.result_parts import native_warnings_of
from assay.judge.lost_fusions import describe_lost_fusion
from assay.judge.words.warnings_text import CRITICAL, critical_warnings
from assay.reports.rows import Row
from assay.reports.sanitize import one_line

TITLE = "Critical warnings"
LOST = "fusion-lost"
"""The kind of what the baseline had fused; the others are those of `WarningCode`."""


class Critical(msgspec.Struct, frozen=True):
    """One kind of warning: "fusion skipped for 3 nodes: a, b, c". `kind` has no figures in it: `fusion-skipped`."""

    case: str
    flow: str
    kind: str
    text: str


def critical(rows: Sequence[Row], changes: RunChanges | None = None) -> list[Critical]:
    """In the order of the rows; what several jobs of a row were warned of, once."""
    warnings = []
    lost = {(cell.case, cell.flow): cell.lost_fusion for cell in changes.cells} if changes else {}
    for row in rows:
        native = [
            native_warning
            for entry in row.entries
            if entry.result
            for native_warning in native_warnings_of(entry.result)
        ]
        texts = [
            (code.value, text)
            for code in CRITICAL
            for text in critical_warnings(warning for warning in dict.fromkeys(native) if warning.code is code)
        ]
        if (fusion := lost.get((row.case, row.flow))) is not None:
            texts.append((LOST, describe_lost_fusion(fusion)))
        warnings += [Critical(one_line(row.case), one_line(row.flow), kind, one_line(text)) for kind, text in texts]
    return warnings
