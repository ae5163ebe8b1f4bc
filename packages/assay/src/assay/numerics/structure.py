"""What must agree before a number is looked at: samples, names and their order, types, shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.core.dtype import dtype_name
from assay.core.finding import Finding, FindingCode, facts
from assay.core.tensor_parts import whole_name
from assay.numerics.element_types import real_name
from assay.ports import Tensors


def check_structure(
    actual: Sequence[Tensors], expected: Sequence[Tensors], names: Sequence[str], dtypes: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Every difference once, at the first sample that shows it. `dtypes` are those declared, by output."""
    differences: dict[tuple[str, str], Finding] = {}

    def note(finding: Finding) -> None:
        differences.setdefault((finding.kind, finding.output), finding)

    if len(actual) != len(expected):
        note(Finding("samples", "", FindingCode.SAMPLE_COUNT, facts(seen=len(actual), due=len(expected))))
    if not expected:
        note(Finding("empty", "", FindingCode.NO_SAMPLE))
    elif not names:
        note(Finding("empty", "", FindingCode.NO_OUTPUT))
    for sample, (left, right) in enumerate(zip(actual, expected, strict=False)):
        for finding in _sample(left, right, names, dtypes):
            note(replace(finding, facts=facts(sample=sample) | finding.facts))
    return tuple(differences.values())


def _sample(left: Tensors, right: Tensors, names: Sequence[str], dtypes: Mapping[str, str]) -> list[Finding]:
    findings: list[Finding] = []
    parts = {name for name in names if name not in left and name not in right and whole_name(name) != name}
    for name in (name for name in names if name not in left and name not in parts):
        findings.append(Finding(_kind(name, "missing_output"), name, FindingCode.MISSING_OUTPUT))
    for name in (name for name in names if name not in right and name not in parts):
        findings.append(Finding("missing_reference", name, FindingCode.MISSING_REFERENCE))
    for name in (name for name in left if name not in names):
        findings.append(Finding(_kind(name, "extra_output"), name, FindingCode.EXTRA_OUTPUT))
    for name in (name for name in right if name not in names):
        findings.append(Finding("missing_reference", name, FindingCode.EXTRA_REFERENCE))
    known, order = [name for name in left if name in names], [name for name in names if name in left]
    if known != order:
        findings.append(
            Finding("output_order", "", FindingCode.OUTPUT_ORDER, facts(seen=tuple(known), due=tuple(order)))
        )
    for name in order:
        if name in right:
            findings += _tensor(name, left, right, dtypes)
    return findings


def _kind(name: str, of_a_whole: str) -> str:
    """How many parts a sequence or a map has is no more certain than the reference is: a question of its shape."""
    return of_a_whole if whole_name(name) == name else "shape"


def _tensor(name: str, left: Tensors, right: Tensors, dtypes: Mapping[str, str]) -> list[Finding]:
    findings: list[Finding] = []
    dtype, due = dtype_name(left[name].dtype), dtypes.get(name, dtype_name(right[name].dtype))
    if dtype != due:
        pairs = real_name(due) == dtype != due and left[name].shape == (*right[name].shape, 2)
        code = FindingCode.COMPLEX_AS_PAIRS if pairs else FindingCode.DTYPE
        findings.append(Finding("dtype", name, code, facts(seen=dtype, due=due)))
    if left[name].shape != right[name].shape:
        shapes = facts(seen=left[name].shape, due=right[name].shape)
        findings.append(Finding("shape", name, FindingCode.SHAPE, shapes))
    return findings
