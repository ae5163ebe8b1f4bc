"""What people wrote about a run or a cell."""

from __future__ import annotations

from assay.core.annotation import Annotation
from assay.ports import KeepsAnnotations
from assay.web.site import Site

SHOWN = 100


def annotations_on(site: Site, run: str = "", case: str = "", flow: str = "") -> list[Annotation]:
    """Those on one point where a run and a cell are named; on a cell through all runs; on a run as a whole. The newest alone."""
    if not isinstance(site.store, KeepsAnnotations):
        return []
    return site.store.annotations(run, case, flow, SHOWN)
