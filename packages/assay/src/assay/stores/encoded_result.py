"""A result as it is written, made before the transaction that writes it: nobody waits while payloads are packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.codes import codes_of
from assay.core.result import Result
from assay.stores.metric_values import EncodedMetrics, encode_metrics
from assay.stores.payload import pack


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
