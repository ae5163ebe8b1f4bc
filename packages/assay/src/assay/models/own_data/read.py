"""What lies at a place, by what it looks like, as samples of the model in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.core.data import Data
from assay.core.golden import WHOLE
from assay.core.model import Model
from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.errors import BadGolden
from assay.models.golden_checks import LOCK
from assay.models.goldens import read_golden, read_inputs, read_lock
from assay.models.own_data import arrays, pictures
from assay.models.own_data.fit import Values, calls_of
from assay.models.own_data.functions import is_function, read_function
from assay.models.own_data.labels import is_label, labels_of
from assay.models.own_data.onnx_sets import read_set, sets_of
from assay.models.own_data.polygraphy import read_json
from assay.models.own_data.prompts.read_prompts import PROMPTS, read_prompts
from assay.models.own_data.prompts.schedules import scheduled
from assay.models.own_data.prompts.short_goldens import read_prompt_tokens
from assay.models.own_data.prompts.signature import Signature, signature_of
from assay.models.own_data.raw import SINGLE, Group, Raw, numbered
from assay.models.own_data.state import check_state, first_state, without_fed


@dataclass(frozen=True)
class OwnData:
    """`outputs` is empty where none were given; `sequences` says how many calls belong together, in order, where there is state.
    A call without a state input takes what the call before it gives."""

    inputs: list[Values]
    outputs: list[Values]
    labels: Values = field(default_factory=dict)
    sequences: tuple[int, ...] = ()
    state: tuple[tuple[str, str], ...] = ()


def read_data(data: Data, model: Model) -> OwnData:
    """Raises BadGolden or UsageError with one sentence: what was wrong, where, what to do."""
    check_state(data.state, model)
    path = Path(data.source)
    if Path(data.source).suffix.lower() in PROMPTS:
        return _fed(data, model)
    if (path / LOCK).is_file():
        return _golden(path, data, model)
    groups = _groups(path, data, model)
    fitted = [[(raw, list(calls_of(raw, model, data.state))) for raw in group] for group in groups]
    calls = [[call for _, fitted_calls in group for call in fitted_calls] for group in fitted]
    every = [call for group in calls for call in group]
    if not every:
        raise BadGolden(noted(DataCode.NOTHING_READ, source=data.source))
    answered = [bool(outputs) for _, outputs in every]
    with_expected = data.expected and any(answered)
    if with_expected:
        _demand_outputs(data, every, model)
    inputs = _with_state(calls, data, model, known=with_expected) if data.state else [sample for sample, _ in every]
    sequences = tuple(map(len, calls)) if data.state else ()
    outputs = [sample for _, sample in every] if with_expected else []
    labels = labels_of([(raw, len(fitted_calls)) for group in fitted for raw, fitted_calls in group], model)
    return OwnData(inputs, outputs, labels, sequences, tuple(data.state.items()))


def _fed(data: Data, model: Model) -> OwnData:
    """Prompts, each in several ways."""
    signature = signature_of(model, data.state)
    return _scheduled(read_prompts(Path(data.source), data.tokenizer, signature.vocabulary), signature)


def _scheduled(prompts: Sequence[Sequence[int]], signature: Signature) -> OwnData:
    schedules = scheduled(prompts, signature)
    calls = [call for sequence in schedules.calls for call in sequence]
    state = tuple(signature.state.items())
    return OwnData(calls, [], schedules.labels, tuple(map(len, schedules.calls)) if state else (), state)


def _golden(path: Path, data: Data, model: Model) -> OwnData:
    """Of any model. States of later calls are those of the flow that recorded it: they are fed again."""
    from assay.models.golden_checks import FILES

    lock = read_lock(path)
    if lock.form != WHOLE:
        signature = signature_of(model, data.state or lock.state)
        return _scheduled(read_prompt_tokens(path, signature.vocabulary), signature)
    answered = data.expected and any(file.path == FILES["output"] for file in lock.files)
    golden = read_golden(path) if answered else read_inputs(path)
    state = data.state or lock.state
    sequences = lock.sequences or ((lock.samples,) if state else ())
    inputs = golden.inputs if answered else without_fed(golden.inputs, lock)
    return OwnData(inputs, golden.outputs, golden.labels, sequences, tuple(state.items()))


def _groups(path: Path, data: Data, model: Model) -> list[Group]:
    if is_function(data.source):
        return read_function(data.source, data.most)
    if path.is_dir():
        return _folder(path, data, model)
    if not path.exists():
        raise BadGolden(noted(DataCode.DATA_MISSING, source=data.source))
    return [_file(path, data, model)]


def _file(path: Path, data: Data, model: Model) -> Group:
    suffix = path.suffix.lower()
    if not path.is_file():
        raise BadGolden(noted(DataCode.DATA_IRREGULAR, file=str(path)))
    if suffix in arrays.SUFFIXES:
        return [arrays.read_arrays(path)]
    if suffix in pictures.SUFFIXES:
        return [pictures.read_picture(path, model, data.image)]
    if suffix == ".json":
        return read_json(path)
    raise BadGolden(noted(DataCode.DATA_KIND, file=str(path), suffix=suffix or path.name))


def _folder(path: Path, data: Data, model: Model) -> list[Group]:
    """Files of one call each are one sequence; files of several, a sequence each."""
    if sets := sets_of(path):
        return [[read_set(folder, model) for folder in sets]]
    known = (*arrays.SUFFIXES, *pictures.SUFFIXES, ".json")
    files = sorted((file for file in path.iterdir() if file.suffix.lower() in known and file.is_file()), key=numbered)
    if not files:
        raise BadGolden(noted(DataCode.NOTHING_READ, source=str(path)))
    if together := _by_name(path, files, model):
        return [[together]]
    if all(file.suffix.lower() == ".json" for file in files):
        return [_paired(path, [raw for file in files for raw in read_json(file)])]
    groups = [_file(file, data, model) for file in files]
    single = all(len(group) == 1 and _is_one(group[0], model, data) for group in groups)
    return [[raw for group in groups for raw in group]] if single else groups


def _paired(path: Path, rows: Sequence[Raw]) -> Group:
    """Polygraphy's inputs beside its outputs, which it saves in two files."""
    inputs, outputs = [row for row in rows if row.values], [row for row in rows if not row.values]
    if outputs and len(outputs) != len(inputs):
        raise BadGolden(noted(DataCode.PAIRS_DIFFER, folder=str(path), inputs=len(inputs), outputs=len(outputs)))
    return [replace(raw, expected=other.expected) for raw, other in zip(inputs, outputs, strict=True)] or inputs


def _by_name(path: Path, files: Sequence[Path], model: Model) -> Raw | None:
    """A folder of .npy files that are called like what the model takes and gives."""
    names = {spec.name for spec in (*model.inputs, *model.outputs)}
    stems = [file.stem for file in files if file.suffix.lower() == ".npy"]
    inputs = {spec.name for spec in model.inputs}
    if (
        len(stems) < len(files)
        or not {stem for stem in stems if not is_label(stem, model)} <= names
        or inputs.isdisjoint(stems)
    ):
        return None
    return Raw(str(path), {file.stem: arrays.read_arrays(file).values[SINGLE] for file in files})


def _is_one(raw: Raw, model: Model, data: Data) -> bool:
    return len(list(calls_of(raw, model, data.state))) == 1


def _demand_outputs(data: Data, every: Sequence[tuple[Values, Values]], model: Model) -> None:
    """Some of the outputs prove nothing of the others, and are refused: a golden is judged whole."""
    from assay.core.tensor_parts import whole_name

    for number, (_, outputs) in enumerate(every):
        there = {*outputs, *map(whole_name, outputs)}
        lacking = [spec.name for spec in model.outputs if spec.name not in there]
        if lacking:
            raise BadGolden(
                noted(
                    DataCode.OUTPUT_LACKING,
                    source=data.source,
                    sample=number,
                    output=lacking[0],
                    model=model.name,
                )
            )


def _with_state(
    calls: Sequence[Sequence[tuple[Values, Values]]], data: Data, model: Model, *, known: bool
) -> list[Values]:
    """The first call of a sequence begins at zeros, unless it brings its state; where outputs are expected, the following take
    what is expected of the call before."""
    filled: list[Values] = []
    for group in calls:
        before: Values = {}
        for step, (inputs, outputs) in enumerate(group):
            missing = [name for name in data.state.values() if name not in inputs]
            if step == 0:
                inputs |= {name: first_state(name, model, inputs) for name in missing}
            elif known:
                inputs |= {name: before[output] for output, name in data.state.items() if name in missing}
            filled.append(inputs)
            before = outputs
    return filled
