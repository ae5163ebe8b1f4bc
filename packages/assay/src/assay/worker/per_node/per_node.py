"""Which node is the first that is wrong: each judged in float64 on the engine's own inputs to it.

End to end, low precision drowns a defect in its own noise; at the node that has it, it stands out. An engine that is
tapped may be another engine (fusions end at a tap): its outputs are compared with those of the untapped one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from assay.core.comparison import Comparison
from assay.core.empty_result import empty_result
from assay.core.finding import Finding
from assay.core.job import PerNodeJob
from assay.core.node_error import NodeError, NodeSummary, Tapping
from assay.core.note import NoteCode, noted
from assay.core.outcome import Stage
from assay.core.reference import Reference, ReferenceKind
from assay.core.result import PerNodeResult
from assay.errors import Unsupported
from assay.models.conversion import format_of
from assay.models.expose_intermediates import expose_intermediates
from assay.models.expose_program_intermediates import expose_program_intermediates
from assay.plugins import library_of
from assay.ports import Tensor
from assay.worker.engine.apply_transforms import apply_transforms
from assay.worker.engine.calibration import evaluation_split
from assay.worker.engine.lower import Lowered, load, lower
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.input_facts import input_facts
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.per_node.accumulated_error import Accumulated, accumulated_errors, added_errors
from assay.worker.per_node.node_values import NodeValues, Values, label
from assay.worker.stages import Stages

if TYPE_CHECKING:
    from onnx import ModelProto


SAMPLES = 2
"""Of the golden set: every node is derived a tolerance on each."""
UNTRUE = "mutant:"
"""The transform whose result is not the model: what it did is what is looked for."""
EVALUATOR = "reference-f64"
"""Whose answers each node is compared with."""
KEPT = 20
"""Comparisons recorded: the nodes that use most of their limit."""


def compare_per_node(job: PerNodeJob, stages: Stages) -> PerNodeResult:
    """Each node that can be judged, on the engine's own inputs to it; the first that is wrong is named."""
    golden = evaluation_split(job, load_golden(job))
    folder = Path(tempfile.mkdtemp(prefix="instrumented-", dir=job.scratch or None))
    honest, lies = _divided(job)
    rewritten = apply_transforms(honest, Path(job.case.model.source), stages)
    samples = rewritten.fed(golden.inputs[:SAMPLES])
    with stages.enter(Stage.TRANSFORM):
        tapped, model = _instrumented(rewritten.model, folder)
    untapped, _, _ = _run(_of(lies, rewritten.model), samples, stages)
    values, lowered, engine = _run(_of(lies, tapped), samples, stages)
    with stages.enter(Stage.COMPARE):
        tapping = _changed(untapped, values)
        feeds = [{**sample, **value} for sample, value in zip(samples, values, strict=True)]
        seen, left_out = _judge(model, feeds, job)
        node_errors = _node_errors(model, seen, _accumulated(job, rewritten, model, golden.inputs[:SAMPLES], feeds))
    blamed = [node_values for node_values in seen if node_values.budget > 1.0]
    return replace(
        empty_result(job),
        node=blamed[0].node if blamed else "",
        findings=tuple(
            replace(_finding(node_values), kind="missing_output")
            for node_values in blamed
            if node_values.output not in feeds[0]
        ),
        comparisons=_comparisons(seen, feeds),
        node_errors=node_errors,
        summary=_summary(seen, left_out, tapping),
        facts=lowered.facts(engine),
        inputs=input_facts(job.case.model, golden),
        reference=Reference(ReferenceKind.ORACLE, EVALUATOR, "", library_of(EVALUATOR), library_of(job.flow)),
    )


def _instrumented(model: Path, folder: Path) -> tuple[Path, ModelProto]:
    """The model with its inner tensors as outputs, and the graph that says what they should be."""
    match format_of(model):
        case "onnx":
            tapped, graph, _ = expose_intermediates(model, folder)
        case "torch":
            tapped, graph, _ = expose_program_intermediates(model, folder)
        case form:
            raise Unsupported(noted(NoteCode.NO_TAPS, format=form))
    return tapped, graph


def _divided(job: PerNodeJob) -> tuple[PerNodeJob, PerNodeJob]:
    """The job with the transforms that make the model to be judged, and with those that must not be believed: mutants."""
    lies = tuple(transform for transform in job.flow.transforms if transform.startswith(UNTRUE))
    kept = tuple(transform for transform in job.flow.transforms if transform not in lies)
    return (
        replace(job, flow=replace(job.flow, transforms=kept)),
        replace(job, flow=replace(job.flow, transforms=lies)),
    )


def _of(job: PerNodeJob, model: Path) -> PerNodeJob:
    return replace(job, case=replace(job.case, model=replace(job.case.model, source=str(model))))


def _run(job: PerNodeJob, samples: Sequence[Values], stages: Stages) -> tuple[list[dict[str, Tensor]], Lowered, Any]:
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    with stages.enter(Stage.RUN):
        outputs = [dict(engine.run(sample)) for sample in lowered.rewritten.fed(samples)]
    return outputs, lowered, engine


def _changed(untapped: Sequence[Values], tapped: Sequence[Values]) -> Tapping | None:
    """In which output the taps changed the engine, and by how much of its norm; None where not one bit differs."""
    worst = None
    for plain, seen in zip(untapped, tapped, strict=True):
        for name, array in plain.items():
            other = seen.get(name)
            if other is None or other.shape != array.shape:
                return Tapping(name)
            if array.tobytes() != other.tobytes() and array.dtype.kind in "fiu":
                wide, base = other.astype(np.float64), array.astype(np.float64)
                share = float(np.linalg.norm(wide - base) / (np.linalg.norm(base) or 1.0))
                if worst is None or share >= (worst.share or 0.0):
                    worst = Tapping(name, share)
    return worst


def _judge(model: ModelProto, feeds: Sequence[Values], job: PerNodeJob) -> tuple[list[NodeValues], int]:
    """All nodes in their order, and how many could not be judged."""
    from assay.worker.per_node.node_comparison import NodeComparisons

    nodes = NodeComparisons(model, feeds, job.flow.precision, tuple(job.flow.allowances), job.case.inputs.seed)
    judged = [nodes.judge(node) for node in nodes.all]
    return [node_values for node_values in judged if node_values is not None], sum(
        node_values is None for node_values in judged
    )


def _accumulated(
    job: PerNodeJob, rewritten: TransformedModel, model: ModelProto, samples: Sequence[Values], feeds: Sequence[Values]
) -> dict[str, Accumulated]:
    """Against the model before any transform. An exported program is compared by the graph that torch makes of it, which for a
    quantized one is no float model."""
    source = Path(job.case.model.source)
    if format_of(source) == "onnx":
        return accumulated_errors(model, source, samples, feeds)
    return accumulated_errors(model, None, samples, feeds) if rewritten.standard is None else {}


def _node_errors(
    model: ModelProto, judged: Sequence[NodeValues], accumulated: Mapping[str, Accumulated]
) -> tuple[NodeError, ...]:
    """Every node of which an output was judged or has a float counterpart, in the order of the graph."""
    own = {node_values.node: node_values for node_values in judged}
    added = added_errors(model.graph.node, accumulated)
    errors = []
    for position, node in enumerate(model.graph.node):
        mine = own.get(label(node))
        output = mine.output if mine else next((name for name in node.output if name in accumulated), "")
        if not output:
            continue
        error = accumulated.get(output)
        errors.append(
            NodeError(
                position,
                node.name or output,
                node.op_type,
                output,
                budget_used=mine.budget if mine else None,
                sqnr_db=error.sqnr_db if error else None,
                added_rel_l2=added.get(output),
                cosine=error.cosine if error else None,
                max_abs=error.max_abs if error else None,
            )
        )
    return tuple(errors)


def _summary(judged: Sequence[NodeValues], left_out: int, tapping: Tapping | None) -> NodeSummary:
    blamed = [node_values for node_values in judged if node_values.budget > 1.0]
    first = _finding(blamed[0]) if blamed else None
    return NodeSummary(len(judged), left_out, tuple(node_values.node for node_values in blamed), first, tapping)


def _finding(node_values: NodeValues) -> Finding:
    return node_values.finding or Finding("values", node_values.output)


def _comparisons(judged: Sequence[NodeValues], feeds: Sequence[Values]) -> tuple[Comparison, ...]:
    among_inputs = [node_values for node_values in judged if node_values.output in feeds[0]]
    worst = sorted(among_inputs, key=lambda node_values: -node_values.budget)[:KEPT]
    return tuple(
        Comparison(
            node_values.output,
            feeds[0][node_values.output].dtype.name,
            feeds[0][node_values.output].shape,
            len(feeds),
            sum(sample[node_values.output].size for sample in feeds),
            findings=(replace(_finding(node_values), kind="values"),) if node_values.budget > 1.0 else (),
            metrics={"budget_used": node_values.budget},
        )
        for node_values in worst
    )
