"""The sizes of the symbolic dimensions of the samples that an engine will be fed: what backends that fix sizes build for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from assay.core.flow import Sizes
from assay.core.job import batches_of
from assay.core.job_base import InputsJob
from assay.models.golden_checks import LOCK
from assay.models.golden_samples import sample_shapes
from assay.models.goldens import read_lock
from assay.models.input_plan.symbols import planned_shapes, symbols
from assay.worker.inputs.input_choice import new_plan

Shapes = Mapping[str, tuple[int, ...]]


def sample_sizes(job: InputsJob) -> dict[str, Sizes]:
    """By `input[axis]`: the least, the first and the largest of the samples of the golden or of the user's own data, or those
    that the plan of random inputs chose. Batch sizes that will be measured are within. {} where all dimensions are fixed."""
    specs = [spec for spec in job.case.model.inputs if spec.shape != ("...",)]
    if not any(isinstance(size, str) for spec in specs for size in spec.shape):
        return {}
    samples = list(_shapes(job))
    batches = [batch for batch in batches_of(job) if batch]
    firsts = symbols({spec.name: spec.shape for spec in specs})
    sizes_by_axis: dict[str, Sizes] = {}
    for spec in specs:
        for axis, size in enumerate(spec.shape):
            sizes = [shape[axis] for shapes in samples if axis < len(shape := shapes.get(spec.name, ()))]
            if isinstance(size, str) and sizes:
                measured = batches if axis == 0 or firsts.get(size) else []
                sizes_by_axis[f"{spec.name}[{axis}]"] = (min(sizes + measured), sizes[0], max(sizes + measured))
    return sizes_by_axis


def _shapes(job: InputsJob) -> Iterable[Shapes]:
    original = job.case.original
    renamed = {theirs: name for name, theirs in original.inputs.items()} if original is not None else {}
    own = job.case.inputs.golden or job.case.inputs.given
    for folder, names in ((own, {}), (job.reference_dir, {}), (job.original_dir, renamed)):
        if folder and (Path(folder) / LOCK).is_file():
            stored = sample_shapes(read_lock(Path(folder)))
            return [{names.get(name, name): shape for name, shape in shapes.items()} for shapes in stored]
    if own or original is not None:
        return []
    return [planned_shapes(job.case.model, new_plan(job), batch=job.case.inputs.batch)]
