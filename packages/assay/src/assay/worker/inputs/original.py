"""A model and the one that it is to be still: the same inputs for both, and how far their answers are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from assay.core.case import Contract, Original
from assay.core.comparison import Comparison
from assay.core.dtype import UNIT_ROUNDOFF, dtype_name, is_floating, numpy_dtype
from assay.core.empty_result import empty_result
from assay.core.finding import Finding, FindingCode, facts
from assay.core.golden import GIVEN, GoldenLock
from assay.core.job import ChangeJob
from assay.core.job_base import InputsJob
from assay.core.model import TensorSpec
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Stage
from assay.core.reference import Reference, ReferenceKind
from assay.core.result import ChangeResult
from assay.core.tensor_parts import whole_name
from assay.errors import UnknownName, UsageError
from assay.models.goldens import Golden, read_golden, read_lock
from assay.models.load_tolerance import DOUBLE, load_tolerance
from assay.numerics.draw import NOTHING
from assay.numerics.tolerance.comparator import Compared, ToleranceComparator
from assay.numerics.tolerance.drawn_comparison import Drawn
from assay.plugins import find_flow, library_of
from assay.ports import Tensor
from assay.task_metrics.scoring import score
from assay.worker.inputs.random_outputs import random_outputs
from assay.worker.stages import Stages

Samples = Sequence[Mapping[str, Tensor]]


def golden_of_original(job: InputsJob, original: Original) -> Golden:
    """Inputs and answers of the original. Raises BadGolden."""
    return read_golden(Path(job.original_dir), model_digest=original.model.digest)


def inputs_of_original(job: InputsJob, original: Original) -> tuple[list[dict[str, Tensor]], dict[str, Tensor]]:
    """What the original is fed, under the names and in the types of the new model; and the labels. Raises UsageError for values
    that such a type does not hold, and for a shape that the new model does not take."""
    golden = golden_of_original(job, original)
    specs = {tensor_spec.name: tensor_spec for tensor_spec in job.case.model.inputs}
    mine = {theirs: name for name, theirs in original.inputs.items()}
    inputs = [_under(mine, sample) for sample in golden.inputs]
    for name in set(specs).intersection(*inputs):
        for sample in inputs:
            _check_shape(name, specs[name].shape, sample[name].shape)
            sample[name] = _fed(sample[name], specs[name].dtype, name)
    return inputs, golden.labels


def _under(names: Mapping[str, str], sample: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The sample under other names, in the order of these; what has none is left out. Parts of sequences and maps go with the whole."""
    parts: dict[str, dict[str, Tensor]] = {name: {} for name in names}
    for part, array in sample.items():
        whole = whole_name(part)
        if whole in names:
            parts[whole][names[whole] + part.removeprefix(whole)] = array
    return {name: array for arrays in parts.values() for name, array in arrays.items()}


def _check_shape(name: str, declared: tuple[int | str, ...], shape: tuple[int, ...]) -> None:
    fits = declared == ("...",) or (
        len(declared) == len(shape)
        and all(isinstance(due, str) or due == size for due, size in zip(declared, shape, strict=True))
    )
    if not fits:
        raise UsageError(noted(NoteCode.NEW_INPUT_SHAPE, input=name, shape=declared, fed=shape))


def _fed(array: Tensor, dtype: str, name: str) -> Tensor:
    if not dtype or dtype_name(array.dtype) == dtype:
        return array
    with np.errstate(all="ignore"):
        fed = array.astype(numpy_dtype(dtype))
    if not is_floating(dtype) and not np.array_equal(fed, array):
        raise UsageError(noted(NoteCode.INPUT_NOT_HELD, input=name, dtype=dtype))
    return fed


def compare_change(job: ChangeJob, stages: Stages) -> ChangeResult:
    """The reference answers of the new model against those of its original: judged by the original's tolerance where the new one
    is no coarser than a rounding, only measured where it is quantized. Raises BadGolden."""
    original = job.case.original
    if original is None:
        raise UsageError(noted(NoteCode.NO_ORIGINAL))
    with stages.enter(Stage.LOAD):
        new = read_golden(Path(job.reference_dir), model_digest=job.case.model.digest)
        old = golden_of_original(job, original)
    quantized = original.precision not in UNIT_ROUNDOFF or original.precision.startswith(("float8", "float4"))
    with stages.enter(Stage.COMPARE):
        judging = (
            ToleranceComparator(_contract(job, original))
            if quantized
            else load_tolerance(job, _contract(job, original))
        )
        drawn, newly = _drawn(job, original, old)
        judging = replace(judging, drawn=drawn, golden=None)
        loss, findings_of_change = _compared(original, new.outputs, old, judging)
        findings_of_change = (*findings_of_change, *newly)
        far = compare_with_original(job, new.outputs, old)
        structural = tuple(finding for finding in findings_of_change if finding.kind != "values")
    findings = structural if quantized else findings_of_change
    contract = job.case.contract
    metrics = {}
    if contract.task_metric is not None and not structural:
        mine = {
            theirs: name for name, theirs in original.outputs.items()
        }  # options of the task name the new model's outputs
        expected = [_under(mine, sample) for sample in old.outputs]
        metrics = score(contract.task_metric, new.outputs, expected, old.labels, contract.task_metric_options)
    return msgspec.structs.replace(
        empty_result(job),
        unproven=_doubt(new, old, given=bool(original.golden)),
        comparisons=() if quantized else loss,
        against_float=far,
        findings=findings,
        task_metrics=metrics,
        original=original.model.name,
        reference=_reference(job, original, new, old),
        float_reference=reference_of_original(job) if far else Reference(),
        notes=tuple(dict.fromkeys((*original.notes, *_whose(new, old), *judging.notes, *judging.remarks))),
        untaken_branches=judging.profile.header.untaken if judging.profile is not None else (),
    )


def _reference(job: InputsJob, original: Original, new: Golden, old: Golden) -> Reference:
    """Who computed what is compared: an oracle of either model, unless the answers of both are right by definition, or given."""
    sides = [(job.case.model.format, new.lock)]
    if not original.golden:
        sides.append((original.model.format, old.lock))
    references = [_answered_by(form, lock, own_inputs=_is_given(job, original)) for form, lock in sides]
    return next((reference for reference in references if reference.kind is ReferenceKind.ORACLE), references[0])


def _answered_by(form: str, lock: GoldenLock, *, own_inputs: bool) -> Reference:
    """An oracle's answers; those of torch to a program that it exported are right by definition."""
    library = lock.library or library_of(lock.producer)
    kind = ReferenceKind.DEFINITION if form != "onnx" and library == "torch" else ReferenceKind.ORACLE
    return Reference(kind, lock.producer, lock.producer_version, library, own_inputs=own_inputs)


def reference_of_original(job: InputsJob, engine: str = "") -> Reference:
    """Whose answers those of the original are, which a loss is measured by; `engine` is the library of the flow under test."""
    original = job.case.original
    assert original is not None
    lock = read_lock(Path(job.original_dir))
    own = _is_given(job, original)
    if not original.golden:
        return msgspec.structs.replace(_answered_by(original.model.format, lock, own_inputs=own), engine=engine)
    library = lock.library or library_of(lock.producer)
    kind = ReferenceKind.GIVEN if lock.producer == GIVEN and original.model.source else ReferenceKind.GOLDEN
    return Reference(kind, lock.producer, lock.producer_version, library, engine, own)


def _is_given(job: InputsJob, original: Original) -> bool:
    """Whether the inputs are a user's."""
    return bool(original.golden or job.case.inputs.given)


def compare_with_original(job: InputsJob, actual: Samples, old: Golden) -> tuple[Comparison, ...]:
    """Metrics of the answers of the new model, or of an engine on it, against those of its original, by the names of the
    original."""
    original = job.case.original
    assert original is not None
    contract = msgspec.structs.replace(_contract(job, original), precision="float32")
    count = min(len(actual), len(old.outputs))
    judging = ToleranceComparator(contract, drawn=_drawn(job, original, old)[0])
    return _compared(original, actual[:count], old.first(count), judging)[0]


def _drawn(job: InputsJob, original: Original, old: Golden) -> tuple[Drawn, tuple[Finding, ...]]:
    """Outputs that either model draws, by the names of the new one; and a finding for each that only the new one draws, where it is
    known what the original does."""
    mine = {theirs: name for name, theirs in original.inputs.items()}
    new = random_outputs(job.case.model, [_under(mine, sample) for sample in old.inputs])
    names = {theirs: name for name, theirs in original.outputs.items()}
    before = {names.get(name, name): draw for name, draw in random_outputs(original.model, old.inputs).items()}
    is_read = original.model.format == "onnx" and original.model.source
    newly = tuple(
        Finding("random", original.outputs[name], FindingCode.NEWLY_RANDOM, facts(margin=draw.numbers or draw.sizes))
        for name, draw in new.items()
        if is_read and name in original.outputs and name not in before
    )
    return {name: new.get(name, NOTHING) | before.get(name, NOTHING) for name in {**new, **before}}, newly


def _compared(original: Original, actual: Samples, old: Golden, judging: ToleranceComparator) -> Compared:
    """By the names of the original; where its file is not known, the tolerance is of the new model and has the names of that. What
    `judging` knows to be drawn has the names of the new model."""
    own = judging.profile is not None and not original.model.source
    renamed = _renamed(actual, original)
    declared = {output.name: _declared(output, renamed) for output in original.model.outputs}
    answers = _typed(renamed, declared)
    expected: Samples = old.outputs
    if own:
        back = {theirs: mine for mine, theirs in original.outputs.items()}
        answers, expected = ([_under(back, sample) for sample in samples] for samples in (answers, expected))
        declared = {back[name]: dtype for name, dtype in declared.items() if name in back}
    else:
        drawn = {original.outputs.get(name, name): draw for name, draw in judging.drawn.items()}
        judging = replace(judging, drawn=drawn)
    return judging.first(len(answers)).compare(answers, expected, declared)


def _renamed(samples: Samples, original: Original) -> list[dict[str, Tensor]]:
    """Under the names of the original and in its order; outputs that are new are left out."""
    mine = {theirs: name for name, theirs in original.outputs.items()}
    names = {mine[output.name]: output.name for output in original.model.outputs if output.name in mine}
    return [_under(names, sample) for sample in samples]


def _declared(spec: TensorSpec, answers: Samples) -> str:
    """As the original declares it, or in double where the answers are those of an evaluation in double: unrounded."""
    given = {dtype_name(sample[spec.name].dtype) for sample in answers if spec.name in sample}
    return "float64" if is_floating(spec.dtype) and given == {"float64"} else spec.dtype


def _typed(samples: Samples, declared: Mapping[str, str]) -> list[dict[str, Tensor]]:
    """In the types that the original declares, where one is a rounding of the other."""
    return [{name: _as(array, declared.get(name, "")) for name, array in sample.items()} for sample in samples]


def _as(array: Tensor, dtype: str) -> Tensor:
    own_dtype = dtype_name(array.dtype)
    both = is_floating(own_dtype) and is_floating(dtype)
    integers = array.dtype.kind in "iu" and dtype.removeprefix("u").startswith("int")
    with np.errstate(over="ignore"):
        return array.astype(numpy_dtype(dtype)) if own_dtype != dtype and (both or integers) else array


def _contract(job: InputsJob, original: Original) -> Contract:
    """The user's limits by the names of the original."""
    limits = job.case.contract.tolerances
    named = {original.outputs.get(name, name): limit for name, limit in limits.items()}
    return msgspec.structs.replace(job.case.contract, precision=original.precision, tolerances=named)


def _doubt(new: Golden, old: Golden, *, given: bool) -> Note | None:
    """Why a difference proves nothing: two engines in coarse types may differ about the very same model. A golden that was `given` is
    the user's word, unless a flow recorded it that is coarser than single precision."""
    mine, theirs = new.lock.producer, old.lock.producer
    if mine == theirs or {mine, theirs} <= set(DOUBLE) or (given and not _is_coarse(theirs)):
        return None
    return noted(NoteCode.REFERENCES_OF_TWO, new=mine, old=theirs)


def _is_coarse(producer: str) -> bool:
    """Whether it is a flow below single precision; of the framework that a golden was given by nothing is known."""
    try:
        return find_flow(producer).precision not in ("float32", "float64")
    except UnknownName:
        return False


def _whose(new: Golden, old: Golden) -> tuple[Note, ...]:
    """Who answered for a model that is not evaluated in double."""
    return tuple(
        noted(
            NoteCode.NEW_NOT_IN_DOUBLE if golden is new else NoteCode.OLD_NOT_IN_DOUBLE, producer=golden.lock.producer
        )
        for golden in (new, old)
        if golden.lock.producer not in DOUBLE and not golden.lock.kept
    )
