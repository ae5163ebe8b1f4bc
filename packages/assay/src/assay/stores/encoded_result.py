"""A result as it is written, made before the transaction that writes it: nobody waits while payloads are packed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from assay.core.finding import Finding, FindingCode
from assay.core.model_part import part_text
from assay.core.outcome import Cause, Outcome
from assay.core.result import InspectResult, Result
from assay.core.result_parts import ComparedResult, native_warnings_of
from assay.stores.metric_values import EncodedMetrics, encode_metrics

Value = TypeVar("Value")


def pack(value: msgspec.Struct | Sequence[msgspec.Struct]) -> bytes:
    """Lossless. Level 1: a result is mostly field names and samples, and thousands are written in one transaction."""
    return zlib.compress(msgspec.msgpack.encode(value), 1)


def unpack(payload: bytes, decoder: msgspec.msgpack.Decoder[Value]) -> Value:
    """Raises msgspec.DecodeError or zlib.error where the bytes are not those of such a value."""
    return decoder.decode(zlib.decompress(payload))


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


@dataclass(frozen=True)
class EncodedResult:
    """`row` are its columns by name, those of its job among them; `codes` pairs of a code and what it is about."""

    row: dict[str, Any]
    codes: tuple[tuple[str, str], ...]
    metrics: EncodedMetrics

    @property
    def job_key(self) -> str:
        return str(self.row["job_key"])


def encode(results: Sequence[Result]) -> tuple[list[EncodedResult], dict[bytes, bytes]]:
    """Those with different job keys, the first of each, and the constants that they need: payloads by digest."""
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.job_key, result)
    payloads: dict[bytes, bytes] = {}
    return [_encoded(first_result, payloads) for first_result in first.values()], payloads


def _encoded(result: Result, payloads: dict[bytes, bytes]) -> EncodedResult:
    row = {
        "job_key": result.job_key,
        "case": result.case,
        "flow": result.flow,
        "kind": result.kind,
        "outcome": result.outcome.value,
        "word": "",
        "stage": result.stage.value,
        "seconds": result.seconds,
        "payload": pack(result),
    }
    return EncodedResult(row, tuple(codes_of(result)), encode_metrics(result, payloads))
