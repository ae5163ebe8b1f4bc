"""`python -m assay_zoo.functionality_golden`: what a submission expects, compared with the oracle by the derived tolerance.

Runs in a process of its own: what it compares is untrusted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from assay.core.dtype import dtype_name
from assay.judge.finding_text import finding_text
from assay.models.goldens import Golden, read_golden
from assay.models.load_tolerance import load_tolerance
from assay_zoo.compliance.process import limit_self
from assay_zoo.functionality_messages import GoldenAnswer, GoldenRequest


def main() -> None:
    limit_self()
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=GoldenRequest)
    sys.stdout.buffer.write(msgspec.json.encode(hold_golden(request)))


def hold_golden(request: GoldenRequest) -> GoldenAnswer:
    """Structure first, set by set; values together. Raises BadGolden."""
    job = request.job
    expected = read_golden(Path(request.expected))
    oracle = read_golden(Path(job.reference_dir))
    declared = {spec.name: spec.dtype for spec in job.case.model.outputs}
    broken = tuple(_structure(expected, oracle, declared, request.sets))
    if broken:
        return GoldenAnswer(broken)
    # The oracle's own order of outputs, so that nothing but values can differ.
    ours = [
        {name: sample[name] for name in other} for sample, other in zip(expected.outputs, oracle.outputs, strict=True)
    ]
    judging = load_tolerance(job, job.case.contract)
    comparisons, findings = judging.compare(ours, oracle.outputs, declared)
    used = max((one.metrics.get("budget_used", 0.0) for one in comparisons), default=0.0)
    where = {one.output: request.sets[one.worst[0].index[0]] for one in comparisons if one.worst and one.worst[0].index}
    problems = tuple(f"{where.get(one.output, request.sets[0])}: {finding_text(one)}" for one in findings)
    poor = next((f"output {one.output!r}: {finding_text(one.degenerate)}" for one in comparisons if one.degenerate), "")
    return GoldenAnswer(problems, poor, float(used) if np.isfinite(used) else 1e30)


def _structure(expected: Golden, oracle: Golden, declared: dict[str, str], sets: tuple[str, ...]) -> Iterator[str]:
    """Names, element types and shapes: a scalar is no matrix, and float64 is no float32."""
    for place, ours, theirs in zip(sets, expected.outputs, oracle.outputs, strict=True):
        for name in theirs:
            if name not in ours:
                yield f"{place}: there is no expected output {name!r}"
                continue
            wanted = declared.get(name, dtype_name(theirs[name].dtype))
            if dtype_name(ours[name].dtype) != wanted:
                yield f"{place}: the expected output {name!r} is {dtype_name(ours[name].dtype)}, and the model gives {wanted}"
            if ours[name].shape != theirs[name].shape:
                shapes = f"{list(ours[name].shape)}, and the model gives {list(theirs[name].shape)}"
                yield f"{place}: the expected output {name!r} has shape {shapes}"
        for name in sorted(set(ours) - set(theirs)):
            yield f"{place}: the model has no output {name!r}"


if __name__ == "__main__":
    main()
