"""Defects that docs/findings describes, as patterns: shipped with the package, looked for first, and each asked for before it is told."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources

import msgspec

from assay.triage.cause import Pattern

PLACE = "docs/findings/"
"""In Assay's source, where the script of each is."""


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One defect of one backend. `seen` is the release that it was measured on, `types` the kind of numbers that each operator reads first
    ("": any; where it is left out: floating ones, but for what comes from a grid); for the rest see `Pattern`."""

    file: str
    title: str
    backend: str
    seen: str
    operators: tuple[str, ...]
    edges: tuple[tuple[int, int], ...] = ()
    attributes: tuple[dict[str, str], ...] = ()
    cure: str = ""
    symptom: str = ""
    before_opset: int = 0
    types: tuple[str, ...] = ()


@cache
def findings() -> tuple[Finding, ...]:
    """All of them."""
    text = resources.files("assay.triage").joinpath("findings.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["finding"], tuple[Finding, ...])


def patterns_of_findings(backend: str) -> list[Pattern]:
    """Those of one backend."""
    return [pattern_of_finding(finding) for finding in findings() if finding.backend == backend]


def pattern_of_finding(finding: Finding) -> Pattern:
    """As it is looked for."""
    return Pattern(
        finding.backend,
        finding.operators,
        finding.edges,
        PLACE + finding.file,
        finding.attributes,
        finding.cure,
        finding.title,
        finding.seen,
        finding.symptom,
        finding.before_opset,
        types=tuple((numbers,) for numbers in finding.types or _usual(finding.operators)),
    )


def _usual(operators: tuple[str, ...]) -> Iterator[str]:
    """Floating numbers, but for what comes from a grid."""
    return ("" if operator == "DequantizeLinear" else "float" for operator in operators)
