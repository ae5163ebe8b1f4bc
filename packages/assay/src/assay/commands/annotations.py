"""Notes on runs as a function."""

from __future__ import annotations

from datetime import UTC, datetime

from assay.commands.composition import open_services
from assay.core.annotation import LONGEST_ANNOTATION, Annotation
from assay.errors import UsageError
from assay.ports import KeepsAnnotations


def add_annotation(text: str, history: str, *, who: str, run: str, case: str = "", flow: str = "") -> Annotation:
    """Raises UsageError for an empty text, one that is too long, and a history that keeps no annotations; RunNotFound."""
    if not text.strip() or len(text) > LONGEST_ANNOTATION:
        raise UsageError(f"an annotation needs a text of at most {LONGEST_ANNOTATION} characters")
    annotation = Annotation(datetime.now(UTC).isoformat(timespec="seconds"), who, text.strip(), run, case, flow)
    with open_services(history, recorded=True) as services:
        if not isinstance(services.store, KeepsAnnotations):
            raise UsageError(f"{history} is a kind of history that cannot keep annotations")
        services.store.add_annotation(annotation)
    return annotation
