"""What results can be searched by: the codes of what went wrong in one, each with the place that it names."""

from __future__ import annotations

from assay.core.finding import Finding, FindingCode
from assay.core.model_part import part_text
from assay.core.outcome import Cause, Outcome
from assay.core.result import InspectResult, Result
from assay.core.result_parts import ComparedResult, native_warnings_of


def codes_of(result: Result) -> tuple[tuple[str, str], ...]:
    """(code, about), each once: the outcome where it is not ok, its cause and signal with the node that the backend names; findings of
    the comparison with their output; the library's warnings with their node; what is wrong with the model."""
    codes: list[tuple[str, str]] = []
    if result.outcome is not Outcome.OK:
        codes.append((result.outcome.value, result.node))
    if result.cause is not Cause.NONE:
        codes.append((result.cause.value, result.node))
    if result.signal:
        codes.append((result.signal, result.node))
    if isinstance(result, ComparedResult):
        codes += [(_code_of(finding), finding.output) for finding in result.findings]
    if isinstance(result, InspectResult):
        codes += [(finding.code, part_text(finding.about)) for finding in result.findings]
    codes += [(native_warning.code.value, native_warning.node) for native_warning in native_warnings_of(result)]
    return tuple(dict.fromkeys(codes))


def _code_of(finding: Finding) -> str:
    return finding.kind if finding.code is FindingCode.BARE else finding.code.value
