"""Which node is the first that is wrong: each judged in float64 on the engine's own inputs to it.

End to end, low precision drowns a defect in its own noise; at the node that has it, it stands out. An engine that is
tapped may be another engine (fusions end at a tap): its outputs are compared with those of the untapped one. And a tap
inside of what the backend computes as one may hold a value that nobody used: a node that fails is judged again together
with its producers before it is blamed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from assay.core.blank import blank_result
from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.job import Job
from assay.core.result import Comparison, Finding, Outcome, Result, Stage
from assay.errors import Lowering, Unsupported, UsageError
from assay.models.instrument import instrument, is_number, part
from assay.numerics.tolerance.contract import arithmetic_of
from assay.ports import Tensor
from assay.worker.calibration import judged
from assay.worker.lower import Lowered, load, lower
from assay.worker.rewrite import rewrite
from assay.worker.samples import golden_of
from assay.worker.stages import Stages

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

SAMPLES = 2
"""Of the golden set: every node is derived a tolerance on each."""
MERGED = 3
"""How many times a failing region grows by its producers before it is blamed."""
TIE = 2.0**-6
"""Of a quantization step: so near to a tie either neighbour is right (measured: OpenVINO, ONNX Runtime)."""
UNTRUE = "mutant:"
"""The transform whose result is not the model: what it did is what is looked for."""
KEPT = 20
"""Comparisons recorded: the nodes that use most of their limit."""

Values = Mapping[str, Tensor]


@dataclass(frozen=True)
class _Seen:
    """One node or region: what it uses of its limit, and where."""

    node: str
    output: str
    budget: float
    text: str = ""


def localize(job: Job, stages: Stages) -> Result:
    """MISMATCH names the first wrong node; OK: every node that could be judged is right on its own inputs."""
    golden = judged(job, golden_of(job))
    folder = Path(tempfile.mkdtemp(prefix="instrumented-", dir=job.scratch or None))
    if job.case.model.format != "onnx":
        raise Unsupported("local judgement taps ONNX graphs, and this model is none")
    honest, lies = _divided(job)
    rewritten = rewrite(honest, Path(job.case.model.source), stages)
    samples = rewritten.fed(golden.inputs[:SAMPLES])
    with stages.enter(Stage.TRANSFORM):
        tapped, model, _ = instrument(rewritten.model, folder)
    untapped, _, _ = _run(_of(lies, rewritten.model), samples, stages)
    values, lowered, engine = _run(_of(lies, tapped), samples, stages)
    with stages.enter(Stage.COMPARE):
        tapping = _changed(untapped, values)
        feeds = [{**sample, **one} for sample, one in zip(samples, values, strict=True)]
        seen, left_out = _judge(model, feeds, job)
    blamed = [one for one in seen if one.budget > 1.0]
    return replace(
        blank_result(job, Outcome.MISMATCH if blamed else Outcome.OK if seen else Outcome.MISTRUSTED),
        detail=_detail(blamed, seen, left_out, tapping),
        node=blamed[0].node if blamed else "",
        comparisons=_comparisons(seen, feeds),
        facts=lowered.facts(engine),
    )


def _divided(job: Job) -> tuple[Job, Job]:
    """The job with the transforms that make the model to be judged, and with those that must not be believed: mutants."""
    lies = tuple(one for one in job.flow.transforms if one.startswith(UNTRUE))
    kept = tuple(one for one in job.flow.transforms if one not in lies)
    return (
        replace(job, flow=replace(job.flow, transforms=kept)),
        replace(job, flow=replace(job.flow, transforms=lies)),
    )


def _of(job: Job, model: Path) -> Job:
    return replace(job, case=replace(job.case, model=replace(job.case.model, source=str(model))))


def _run(job: Job, samples: Sequence[Values], stages: Stages) -> tuple[list[dict[str, Tensor]], Lowered, Any]:
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    with stages.enter(Stage.RUN):
        found = [dict(engine.run(sample)) for sample in lowered.rewritten.fed(samples)]
    return found, lowered, engine


def _changed(untapped: Sequence[Values], tapped: Sequence[Values]) -> str:
    """In which output the taps changed the engine, and by how much of its norm; "" where not one bit differs."""
    worst, where = 0.0, ""
    for plain, seen in zip(untapped, tapped, strict=True):
        for name, array in plain.items():
            other = seen.get(name)
            if other is None or other.shape != array.shape:
                return f"output '{name}' is another"
            if array.tobytes() != other.tobytes() and array.dtype.kind in "fiu":
                wide, base = other.astype(np.float64), array.astype(np.float64)
                share = float(np.linalg.norm(wide - base) / (np.linalg.norm(base) or 1.0))
                if share >= worst:
                    worst, where = share, f"output '{name}' moved by {share:.2g} of its norm"
    return where


def _judge(model: ModelProto, feeds: Sequence[Values], job: Job) -> tuple[list[_Seen], int]:
    """All nodes in their order, and how many could not be judged."""
    producer = {name: node for node in model.graph.node for name in node.output if name}
    order = {id(node): place for place, node in enumerate(model.graph.node)}
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    found, left_out = [], 0
    for node in model.graph.node:
        if node.op_type == "Constant" or all(name in weights or not name for name in node.input):
            continue
        region = [node]
        seen = _judge_region(model, region, feeds, job)
        if seen is None:
            left_out += 1
            continue
        if seen.budget > 1.0 and node.op_type == "QuantizeLinear":
            seen = _at_ties(node, feeds, weights) or seen
        for _ in range(MERGED):
            if not seen.budget > 1.0:
                break
            grown = {id(one): one for one in region}
            for one in region:
                grown.update({id(producer[name]): producer[name] for name in one.input if name in producer})
            if len(grown) == len(region):
                break
            region = sorted(grown.values(), key=lambda one: order[id(one)])
            wider = _judge_region(model, region, feeds, job, only=tuple(node.output))
            if wider is None:
                break
            seen = wider if wider.budget < seen.budget else seen
        found.append(_Seen(_name(node), seen.output, seen.budget, seen.text))
    return found, left_out


def _at_ties(node: NodeProto, feeds: Sequence[Values], weights: Mapping[str, Any]) -> _Seen | None:
    """A quantization that is off by one step at most, and only next to a tie: backends multiply by the reciprocal of the
    scale. None where that is not all. The budget is the distance to the tie as a share of `TIE` of a step."""
    from onnx import numpy_helper

    def known(place: int) -> Tensor | None:
        name = node.input[place] if place < len(node.input) else ""
        return numpy_helper.to_array(weights[name]) if name in weights else feeds[0].get(name)

    scale, zero = known(1), known(2)
    if scale is None or scale.size != 1:
        return None
    farthest = 0.0
    for one in feeds:
        exact = one[node.input[0]].astype(np.float64) / float(scale) + float(zero if zero is not None else 0)
        mine = one[node.output[0]].astype(np.float64)
        info = np.iinfo(one[node.output[0]].dtype)
        off = np.abs(mine - np.clip(np.rint(exact), info.min, info.max))
        distance = np.abs(np.abs(exact - np.floor(exact)) - 0.5)
        if np.any(off > 1):
            return None
        farthest = max(farthest, float(distance[off > 0].max(initial=0.0)))
    return _Seen(_name(node), node.output[0], farthest / TIE) if farthest < TIE else None


def _name(node: NodeProto) -> str:
    return f"{node.name or node.output[0]} ({node.op_type})"


def _judge_region(
    model: ModelProto, region: Sequence[NodeProto], feeds: Sequence[Values], job: Job, only: tuple[str, ...] = ()
) -> _Seen | None:
    """The region's outputs (`only` those) against its float64 evaluation on the engine's own inputs; None where there is none."""
    from assay.numerics.oracle.expand import expanded
    from assay.numerics.tolerance.derive import Deriving
    from assay.numerics.tolerance.judge import judge

    try:
        alone = part(model, region, feeds[0])
        names = [value.name for value in alone.graph.output if not only or value.name in only]
        reads = [value.name for value in alone.graph.input]
        if not names or not all(is_number(feeds[0][name]) for name in (*names, *reads)):
            return None
        inputs = [{name: one[name] for name in reads} for one in feeds]
        precision = job.flow.precision if job.flow.precision in UNIT_ROUNDOFF else "float32"
        arithmetic = arithmetic_of(precision, tuple(job.flow.allowances))
        deriving = Deriving(expanded(alone), arithmetic, job.case.inputs.seed)
        profile = deriving.profile(deriving.samples(inputs), precision)
        found = judge([{name: one[name] for name in names} for one in feeds], None, profile)
    except (Lowering, UsageError, KeyError, ValueError, TypeError):
        return None
    worst = max(found.values(), key=lambda one: one.metrics.get("budget_used", 0.0), default=None)
    if worst is None or "budget_used" not in worst.metrics:
        return None
    text = worst.findings[0].text if worst.findings else ""
    return _Seen(_name(region[-1]), worst.output, worst.metrics["budget_used"], text)


def _detail(blamed: Sequence[_Seen], judged: Sequence[_Seen], left_out: int, tapping: str) -> str:
    sure = f"the tapped engine's {tapping}: a fusion that ends at a tap is not judged" if tapping else ""
    if not blamed:
        rest = f", {left_out} could not be judged" if left_out else ""
        told = f"{len(judged)} nodes are right on their own inputs{rest}"
        return "; ".join(filter(None, (told, sure)))
    more = f" (and {len(blamed) - 1} more: {', '.join(one.node for one in blamed[1:4])})" if blamed[1:] else ""
    return "; ".join(filter(None, (f"the first wrong node is {blamed[0].node}{more}: {blamed[0].text}", sure)))


def _comparisons(judged: Sequence[_Seen], feeds: Sequence[Values]) -> tuple[Comparison, ...]:
    worst = sorted(judged, key=lambda one: -one.budget)[:KEPT]
    return tuple(
        Comparison(
            one.output,
            feeds[0][one.output].dtype.name,
            feeds[0][one.output].shape,
            len(feeds),
            sum(sample[one.output].size for sample in feeds),
            findings=(Finding("values", one.output, one.text),) if one.budget > 1.0 else (),
            metrics={"budget_used": one.budget},
        )
        for one in worst
    )
