"""What a submission expects, compared with the oracle by the derived tolerance.

Runs in a process of its own: what it compares is untrusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.dtype import dtype_name
from assay.core.model import Model
from assay.judge.words.finding_text import finding_text
from assay.models.goldens import Golden, read_golden
from assay.models.load_tolerance import load_tolerance
from assay_zoo.functionality.messages import GoldenAnswer, GoldenRequest


def hold_golden_inside(asked: str) -> str:
    """The target of `run_limited`: text of JSON in and out."""
    return msgspec.json.encode(hold_golden(msgspec.json.decode(asked, type=GoldenRequest))).decode()


def hold_golden(request: GoldenRequest) -> GoldenAnswer:
    """Structure first, set by set; values together. Raises BadGolden."""
    job = request.job
    expected = read_golden(Path(request.expected))
    oracle = read_golden(Path(job.reference_dir))
    declared = {spec.name: spec.dtype for spec in job.case.model.outputs}
    broken = tuple(_structure(expected, oracle, job.case.model, request.sets))
    if broken:
        return GoldenAnswer(broken)
    # The oracle's own order of outputs, so that nothing but values can differ.
    ours = [
        {name: sample[name] for name in other} for sample, other in zip(expected.outputs, oracle.outputs, strict=True)
    ]
    judging = load_tolerance(job, job.case.contract)
    comparisons, findings = judging.compare(ours, oracle.outputs, declared)
    used = max((comparison.metrics.get("budget_used", 0.0) for comparison in comparisons), default=0.0)
    where = {
        comparison.output: request.sets[comparison.worst[0].index[0]]
        for comparison in comparisons
        if comparison.worst and comparison.worst[0].index
    }
    problems = tuple(f"{where.get(finding.output, request.sets[0])}: {finding_text(finding)}" for finding in findings)
    poor = next(
        (
            f"output {comparison.output!r}: {finding_text(comparison.degenerate)}"
            for comparison in comparisons
            if comparison.degenerate
        ),
        "",
    )
    poor = poor or (
        "every sample has the same answer: hand in inputs on which it is another" if _same(oracle.outputs) else ""
    )
    return GoldenAnswer(problems, poor, float(used) if np.isfinite(used) else 1e30)


def _same(samples: Sequence[Mapping[str, np.ndarray[Any, Any]]]) -> bool:
    """Whether no output of fractions ever changes, from row to row or from sample to sample. Classes may well be the same twice."""
    named = [name for name, array in samples[0].items() if array.dtype.kind == "f" and array.size]
    rows = {
        name: [row for sample in samples for row in (sample[name] if sample[name].ndim else [sample[name]])]
        for name in named
    }
    return bool(named) and all(
        len(output_rows) > 1 and all(_equal(row, output_rows[0]) for row in output_rows)
        for output_rows in rows.values()
    )


def _equal(row: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Up to a rounding of float32."""
    if row.shape != other.shape:
        return False
    with np.errstate(all="ignore"):
        moved, size = np.abs(row.astype(np.float64) - other), np.abs(other).max(initial=0.0)
    return np.array_equal(row, other) or bool(moved.max(initial=0.0) <= np.finfo(np.float32).eps * size)


def _structure(expected: Golden, oracle: Golden, model: Model, sets: tuple[str, ...]) -> Iterator[str]:
    """Names, element types and shapes: a scalar is no matrix, and float64 is no float32. What the model declares and inference
    cannot know is held against what it gives here."""
    specs = {spec.name: spec for spec in model.outputs}
    for place, given, ours, theirs in zip(sets, expected.inputs, expected.outputs, oracle.outputs, strict=True):
        sizes = _sizes(model, given)
        for name, array in theirs.items():
            if name not in ours:
                yield f"{place}: there is no expected output {name!r}"
                continue
            wanted = specs[name].dtype if name in specs else dtype_name(array.dtype)
            if dtype_name(ours[name].dtype) != wanted:
                yield f"{place}: the expected output {name!r} is {dtype_name(ours[name].dtype)}, and the model gives {wanted}"
            declared = [sizes.get(size, size) for size in specs[name].shape] if name in specs else ["..."]
            if ours[name].shape != array.shape:
                shapes = f"{list(ours[name].shape)}, and the model gives {list(array.shape)}"
                yield f"{place}: the expected output {name!r} has shape {shapes}"
            elif not _fits(declared, array.shape):
                text = f"the shape {_shown(declared)} for its output {name!r}, and it gives {list(array.shape)}"
                yield f"{place}: the model declares {text}: correct the declaration"
        for name in sorted(set(ours) - set(theirs)):
            yield f"{place}: the model has no output {name!r}"


def _sizes(model: Model, given: Mapping[str, np.ndarray[Any, Any]]) -> dict[int | str, int | str]:
    """A name of an input's dimension stands for one size; one that stands for two is left a name."""
    sizes: dict[int | str, set[int]] = {}
    for spec in model.inputs:
        for dim, size in zip(spec.shape, given[spec.name].shape if spec.name in given else (), strict=False):
            if isinstance(dim, str) and dim not in ("?", "..."):
                sizes.setdefault(dim, set()).add(size)
    return {name: next(iter(sizes)) for name, sizes in sizes.items() if len(sizes) == 1}


def _fits(declared: Sequence[int | str], shape: Sequence[int]) -> bool:
    """What is still a name is free."""
    return "..." in declared or (
        len(declared) == len(shape)
        and all(isinstance(dim, str) or dim == size for dim, size in zip(declared, shape, strict=True))
    )


def _shown(shape: Sequence[int | str]) -> str:
    return f"[{', '.join(map(str, shape))}]"
