"""Does a part of the graph, built alone, give what float64 gives? The smallest question that triage asks of a backend."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from assay.core.case import Case, Contract, Inputs
from assay.core.dtype import dtype_name
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import RegionJob
from assay.core.note import NoteCode, noted
from assay.core.outcome import Stage
from assay.core.region import AfterPass, RegionError
from assay.core.result import RegionResult
from assay.errors import Unsupported
from assay.models.onnx_file import open_model
from assay.numerics.accumulator import Accumulator
from assay.numerics.special_values import split_specials
from assay.ports import Backend, Engine, ShowsEachPass, SwitchesPasses, Tensor
from assay.worker.engine.lower import backend_class, load, lower
from assay.worker.engine.model_format import convert
from assay.worker.per_node.node_comparison import NodeComparisons
from assay.worker.regions.build_region import Region, Window, build_region
from assay.worker.regions.describe_program import save_program_code
from assay.worker.regions.describe_region import save_region
from assay.worker.regions.edit_region import edited, sizes_of
from assay.worker.regions.iterations import Iterations, first_wrong
from assay.worker.regions.value_files import open_values, save_model
from assay.worker.stages import Stages

VISIBLE = 1e-3
"""Of the largest number of an output: an element that is off by more is counted."""
SEEN_WITHOUT_TOLERANCE = 1e-2
"""Relative L2 distance from which an output is called wrong where no tolerance could be derived."""

Values = Mapping[str, Tensor]


def verify_region(job: RegionJob, stages: Stages) -> RegionResult:
    """Raises what the backend raises of the part."""
    values = open_values(Path(job.values_dir))
    with stages.enter(Stage.TRANSFORM):
        region = build_region(values, job.windows, job.outputs, job.taps)
        wide = {new: values.wide(old) for window in region.windows for new, old in window.names.items()}
        if job.edits:
            region, wide = edited(region, job.edits)
        folder = Path(tempfile.mkdtemp(prefix="region-", dir=job.scratch or None))
        path = save_model(region.model, folder / "region.onnx")
        request = _asked(job, path)
        if job.save_dir:
            save_region(Path(job.save_dir), region, wide)
    if job.list_passes:
        return replace(empty_result(job), passes=_passes(request, path, stages))
    if job.after is not None:
        request = _rewritten(request, job.after, path, folder, stages)
    lowered = lower(request, stages)
    if job.save_dir and lowered.backend.accepts == "torch":
        program, _ = convert(path, "torch", request, stages)
        outputs = {name: wide[name] for window in region.windows for name in window.outputs}
        save_program_code(Path(job.save_dir), program, region.feeds, outputs)
    engine = load(lowered, request, stages)
    with stages.enter(Stage.RUN):
        answers = {name: np.array(array) for name, array in engine.run(region.feeds).items()}
        apart = _apart(engine, region.feeds, answers, job.runs)
    with stages.enter(Stage.COMPARE):
        errors = [_error(number, window, region, answers, wide, job) for number, window in enumerate(region.windows)]
        errors += [
            RegionError(number, window.names.get(name, name), "unstable", rel_l2=apart[name])
            for number, window in enumerate(region.windows)
            for name in window.outputs
            if name in apart
        ]
        backend = lowered.backend
    after_each = _after_each(backend, path, request, region, wide, stages) if job.each_pass else ()
    sizes, tensors = sizes_of(region)
    return replace(
        empty_result(job),
        errors=tuple(errors),
        after_each=after_each,
        sizes=sizes,
        tensors=tensors,
    )


def _apart(engine: Engine, feeds: Values, first: Values, runs: int) -> dict[str, float]:
    """Outputs whose answers to the same inputs differ from call to call, and by how much."""
    distances: dict[str, float] = {}
    for _ in range(1, runs):
        for name, array in engine.run(feeds).items():
            now, before = np.asarray(array), np.asarray(first[name])
            if now.dtype.kind == "V":  # a narrow type of ml_dtypes, whose NaN numpy does not compare
                now, before = now.astype(np.float32), before.astype(np.float32)
            if not np.array_equal(now, before, equal_nan=now.dtype.kind in "fc"):
                distances[name] = max(distances.get(name, 0.0), _distance(now, before.astype(np.float64)))
    return distances


def _passes(request: RegionJob, path: Path, stages: Stages) -> tuple[str, ...]:
    """() where the backend has none that can be left out."""
    with stages.enter(Stage.IMPORT):
        backend: Backend = backend_class(request.flow.backend)()
        backend.prepare()
    if not isinstance(backend, SwitchesPasses):
        return ()
    model, _ = convert(path, backend.accepts, request, stages)
    with stages.enter(Stage.LOWER):
        return tuple(backend.passes_run(model, request.flow))


def _after_each(
    backend: Backend, path: Path, request: RegionJob, region: Region, wide: Values, stages: Stages
) -> tuple[AfterPass, ...]:
    """() where the backend cannot say."""
    if not isinstance(backend, ShowsEachPass):
        return ()
    model, _ = convert(path, backend.accepts, request, stages)
    folder = path.parent / "passes"
    folder.mkdir()
    try:
        with stages.enter(Stage.COMPARE):
            each = backend.after_each_pass(model, request.flow, region.feeds, folder)
    except Unsupported:
        return ()
    outputs = [name for window in region.windows for name in window.outputs]
    return tuple(
        AfterPass(name, None if answer is None else max(_distance(answer[output], wide[output]) for output in outputs))
        for name, answer in each
    )


def _asked(job: RegionJob, path: Path) -> RegionJob:
    """The job of an engine for the part alone: its transforms were made before."""
    model = open_model(path)
    case = Case(job.case.name, model, Inputs(seed=job.case.inputs.seed), Contract(precision=job.flow.precision))
    return replace(job, case=case, flow=replace(job.flow, transforms=()), reference_dir="", original_dir="")


def _rewritten(request: RegionJob, flow: Flow, path: Path, folder: Path, stages: Stages) -> RegionJob:
    """The job for what the passes of that flow leave of the part."""
    with stages.enter(Stage.IMPORT):
        backend: Backend = backend_class(flow.backend)()
        backend.prepare()
    if not isinstance(backend, SwitchesPasses):
        raise Unsupported(noted(NoteCode.PASSES_NOT_TOLD, backend=flow.backend), cause="other")
    with stages.enter(Stage.LOWER):
        rewritten = folder / "rewritten"
        rewritten.mkdir()
        source = str(backend.after_passes(path, replace(flow, transforms=()), rewritten))
    return replace(request, case=replace(request.case, model=replace(request.case.model, source=source)))


def _error(number: int, window: Window, region: Region, answers: Values, wide: Values, job: RegionJob) -> RegionError:
    outputs = window.outputs
    lost = next((name for name in outputs if name not in answers), "")
    if lost:
        return RegionError(number, window.names.get(lost, lost), "missing", math.inf, math.inf, 1.0)
    shapeless = next((name for name in outputs if answers[name].shape != wide[name].shape), "")
    if shapeless:
        # Beside it another output may be right, and is judged first.
        name = region.windows[number].names.get(shapeless, shapeless)
        return RegionError(number, name, "shape", None, math.inf, 1.0)
    worst = max(_distance(answers[name], wide[name]) for name in outputs)
    judged = _judged(window, region, answers, job) if job.derive and worst >= job.screen else None
    output = (
        judged.output if judged is not None else max(outputs, key=lambda name: _distance(answers[name], wide[name]))
    )
    far = _distance(answers[output], wide[output])
    if judged is not None:
        kind = ("range" if judged.kind == "range" else "values") if judged.budget > 1.0 else ""
    elif job.derive and worst < job.screen:
        kind = ""
    else:
        kind = "" if far < SEEN_WITHOUT_TOLERANCE else "range" if math.isinf(far) else "values"
    if job.derive and kind in ("", "values", "range"):
        output, kind = next(
            ((name, odd) for name in outputs if (odd := clash(answers[name], wide[name]))), (output, kind)
        )
        far = _distance(answers[output], wide[output])
    share, bias = _shape_of_error(answers[output], wide[output])
    budget = judged.budget if judged is not None else None
    maker = next((node for node in window.nodes if output in node.output), None)
    step = first_wrong(maker, output, answers[output], wide[output]) if maker is not None and kind else Iterations()
    name = region.windows[number].names.get(output, output)
    return RegionError(number, name, kind, budget, far, share, bias, step.first, step.total)


def clash(answer: Tensor, exact: Tensor) -> str:
    """What no tolerance excuses: "nan" where a NaN is born that float64 has not, "nan_lost" where one has become something else, "lowest"
    where one side has the largest finite value of a type in place of an infinity; else ""."""
    if answer.shape != exact.shape or answer.dtype.kind in "iub":
        return ""
    account = Accumulator()
    mine, theirs = (np.asarray(array).astype(np.float64).reshape(-1) for array in (answer, exact))
    with np.errstate(all="ignore"):
        split_specials(account, mine, theirs, 0, dtype_name(answer.dtype))
    if "nan" in account.clashes:
        return "nan" if np.any(np.isnan(mine) & ~np.isnan(theirs)) else "nan_lost"
    return "lowest" if "lowest_for_infinity" in account.clashes else ""


def _judged(window: Window, region: Region, answers: Values, job: RegionJob):  # type: ignore[no-untyped-def]
    feeds = {**region.feeds, **{name: np.asarray(answers[name]) for name in window.outputs}}
    comparisons = NodeComparisons(
        region.alone(window), [feeds], job.flow.precision, tuple(job.flow.allowances), job.case.inputs.seed
    )
    return comparisons.judge_window(window.nodes, tuple(window.outputs))


def _distance(answer: Tensor, exact: Tensor) -> float:
    """Relative L2 distance; infinite where shapes differ, or where one side alone has no number, or another infinity."""
    if answer.shape != exact.shape:
        return math.inf
    mine, theirs = np.asarray(answer).astype(np.float64), np.asarray(exact, np.float64)
    finite = np.isfinite(mine)
    if not np.array_equal(finite, np.isfinite(theirs)) or not np.array_equal(mine[~finite], theirs[~finite], True):
        return math.inf
    difference = float(np.linalg.norm((mine - theirs)[finite]))
    return difference / (float(np.linalg.norm(theirs[finite])) or 1.0) if difference else 0.0


def _shape_of_error(answers: Tensor, exact: Tensor) -> tuple[float, float]:
    """The share of elements that are visibly off, and how much of the error has one sign."""
    if answers.shape != exact.shape or not exact.size:
        return 1.0, 0.0
    with np.errstate(all="ignore"):
        difference = np.asarray(answers).astype(np.float64) - np.asarray(exact, np.float64)
    largest = float(np.abs(exact[np.isfinite(exact)]).max(initial=0.0)) or 1.0
    off = ~(np.abs(difference) <= VISIBLE * largest)
    finite = difference[np.isfinite(difference)]
    mean = float(np.abs(finite).mean()) if finite.size else 0.0
    return float(off.mean()), float(finite.mean()) / mean if mean else 0.0
