"""The licence: an SPDX expression, every alternative of which the zoo's policy is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.meta import MetadataText
from assay_zoo.repository import METADATA
from assay_zoo.submission import SubmissionContext

_LONGEST = 300


def license_findings(place: SubmissionContext, text: MetadataText) -> Iterator[Finding]:
    """Also where something else in the metadata is wrong; that there is none is told by another check."""
    said = text.text.data.get("license") if text.text else None
    if isinstance(said, str) and said and (trouble := license_trouble(said, place.policy.licenses)):
        yield Finding(sentence=f"{METADATA} {trouble}", path=METADATA, line=text.line_of("license"))


def license_trouble(expression: str, allowed: Sequence[str]) -> str:
    """Why a licence is not taken, "" where it is. `A OR B` needs one of both, `A AND B` both."""
    from license_expression import ExpressionError, get_spdx_licensing  # type: ignore[import-untyped]

    takes = f"this zoo takes {', '.join(allowed)}"
    if len(expression) > _LONGEST:
        return f"says a licence of {len(expression)} characters, which is no SPDX expression; {takes}"
    licensing = get_spdx_licensing()
    try:
        tree: Any = licensing.parse(expression, validate=True)
    except (ExpressionError, RecursionError):
        return f"says license = {expression!r}, which is no SPDX expression; {takes}"
    if _taken(tree, frozenset(allowed), licensing):
        return ""
    return f"says license = {expression!r}, which this zoo does not take; {takes}"


def _taken(tree: Any, allowed: frozenset[str], licensing: Any) -> bool:
    if isinstance(tree, licensing.OR):
        return any(_taken(one, allowed, licensing) for one in tree.args)
    if isinstance(tree, licensing.AND):
        return all(_taken(one, allowed, licensing) for one in tree.args)
    return str(tree) in allowed
