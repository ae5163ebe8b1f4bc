"""What a worker is asked about mutants: which ones a model has, and why one of them passed."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from assay.core.empty_result import empty_result
from assay.core.job import ListMutantsJob, SearchInputsJob
from assay.core.outcome import Stage
from assay.core.result import ListMutantsResult, SearchInputsResult
from assay.models.goldens import write_golden
from assay.models.model_precision import readable_coarse_types
from assay.mutation.differential_search import largest_effect, search
from assay.mutation.graph import Graph
from assay.mutation.input_generators import Array, Sample
from assay.mutation.load import load_graph
from assay.mutation.registry import Mutant, inject, sites
from assay.mutation.validate import why_invalid
from assay.worker.engine.apply_transforms import apply_transforms
from assay.worker.engine.calibration import evaluation_split
from assay.worker.engine.lower import load, lower
from assay.worker.engine.model_format import convert
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.stages import Stages


def list_mutants(job: ListMutantsJob, stages: Stages) -> ListMutantsResult:
    """Write to the file `job.output_path` a JSON list of the mutants of the model as the flow transforms it, each with the type
    of its node.

    At most `job.sites` of each operator: the first, the last, the middle, then drawn by the seed. Only
    mutants that are valid models. Of an exported program, those of the ONNX graph that torch makes of it.
    """
    model, _ = convert(apply_transforms(job, Path(job.case.model.source), stages).model, "onnx", job, stages)
    with stages.enter(Stage.TRANSFORM):
        graph = load_graph(model)
        by_operator: dict[str, list[Mutant]] = {}
        for mutant in sites(graph):
            by_operator.setdefault(mutant.operator, []).append(mutant)
        chosen = [
            (str(mutant), graph.at(mutant.site).op_type)
            for place, mutants in enumerate(by_operator.values())
            for mutant in _valid(graph, _ordered(mutants, job.seed + place), job.sites)
        ]
        Path(job.output_path).write_bytes(msgspec.json.encode(chosen))
    return empty_result(job)


def _ordered(mutants: list[Mutant], seed: int) -> list[Mutant]:
    places = list(dict.fromkeys((0, len(mutants) - 1, len(mutants) // 2)))
    rest = [place for place in range(len(mutants)) if place not in places]
    drawn = np.random.default_rng(seed).permutation(np.asarray(rest, np.int64))
    return [mutants[int(place)] for place in (*places, *drawn)]


def _valid(graph: Graph, ordered: list[Mutant], most: int) -> list[Mutant]:
    kept: list[Mutant] = []
    for mutant in ordered[: 4 * most]:
        if len(kept) == most:
            break
        changed = graph.copy()
        inject(changed, mutant)
        if not why_invalid(changed.model):
            kept.append(mutant)
    return kept


def search_inputs(job: SearchInputsJob, stages: Stages) -> SearchInputsResult:
    """Look for inputs on which the mutant, the last transform of the flow, differs from the engine without it.

    The inputs of the largest effect are written as goldens of one sample into `job.output_dir`/0, /1 ...
    """
    golden = evaluation_split(job, load_golden(job))
    sound = msgspec.structs.replace(job, flow=msgspec.structs.replace(job.flow, transforms=job.flow.transforms[:-1]))
    engine, lying = (_engine(side, stages) for side in (sound, job))
    with stages.enter(Stage.RUN):
        effect, tried_inputs = search(engine, lying, golden.inputs, job.case.model, job.case.inputs.seed)
        telling = largest_effect(tried_inputs)
    with stages.enter(Stage.SAVE):
        for place, answer in enumerate(telling):
            _keep(job, Path(job.output_dir) / str(place), answer.inputs, dict(answer.outputs))
    return msgspec.structs.replace(
        empty_result(job),
        golden_effect=max((tried_input.effect for tried_input in effect), default=0.0),
        found_effect=max((tried_input.effect for tried_input in tried_inputs), default=0.0),
        golden_equal=all(tried_input.equal for tried_input in effect),
        found_equal=all(tried_input.equal for tried_input in tried_inputs),
        tried=len(effect) + len(tried_inputs),
        kinds=tuple(tried_input.what for tried_input in telling),
    )


def _engine(job: SearchInputsJob, stages: Stages) -> Callable[[Sample], Mapping[str, Array]]:
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    return lambda sample: engine.run(lowered.rewritten.fed([sample])[0])


def _keep(job: SearchInputsJob, folder: Path, inputs: Sample, outputs: Sample) -> None:
    write_golden(
        folder,
        model=job.case.model,
        inputs=[inputs],
        outputs=[outputs],
        seed=job.case.inputs.seed,
        producer=job.flow.name,
        producer_version="",
        who=getpass.getuser(),
        reason="an input on which a mutant shows",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        coarse=readable_coarse_types(Path(job.case.model.source)),
    )
