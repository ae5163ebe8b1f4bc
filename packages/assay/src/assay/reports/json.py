"""The whole judged run as one JSON document, at full precision, for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import msgspec

from assay.core.finding import Finding
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.judge.words.finding_text import finding_text
from assay.options.repro import repro_line
from assay.reports.mutation_scores import mutation_scores
from assay.reports.rows import entries

SCHEMA = "assay-report/1"


class Json:
    """Keys: `schema`, `verdict` (word, reason, exit_code), `run`, `jobs` (key, word, reason, repro, verdicts, result),
    `mutation_scores` (of mutants, a row for each flow and operator; empty where none were injected).

    A finding has its sentence beside its code and numbers, as `text`.

    JSON has no word for what is not finite: those metrics are the strings "NaN", "Infinity" and "-Infinity".
    """

    name = "json"
    suffix = ".json"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """ASCII only, so that no encoding on the way can hurt it."""
        known = entries(run, results, judgement)
        keys = {entry.key for entry in known}
        document = {
            "schema": SCHEMA,
            "verdict": {
                "word": judgement.run.word,
                "reason": judgement.run.reason,
                "exit_code": judgement.exit_code,
                "other": [verdict for verdict in judgement.verdicts if verdict.job_key not in keys],
            },
            # The jobs stand below, each with its result.
            "run": {name: getattr(run, name) for name in run.__struct_fields__ if name != "jobs"},
            "jobs": [
                {
                    "key": entry.key,
                    "word": entry.word,
                    "reason": entry.reason,
                    "repro": repro_line(run, entry.asked),
                    "verdicts": entry.verdicts,
                    "job": entry.job,
                    "result": entry.result,
                }
                for entry in known
            ],
            "changes": judgement.changes,
            "kill_rates": mutation_scores(results),
        }
        return json.dumps(_finite(_in_words(msgspec.to_builtins(document))), indent=1, allow_nan=False) + "\n"


_FINDING = {"kind", "output", "code", "facts"}


def _in_words(value: object) -> object:
    """The same, each finding with its sentence as `text`."""
    if isinstance(value, dict):
        same = {key: _in_words(item) for key, item in value.items()}
        return {**same, "text": finding_text(msgspec.convert(value, Finding))} if value.keys() >= _FINDING else same
    if isinstance(value, list | tuple):
        return [_in_words(item) for item in value]
    return value


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
