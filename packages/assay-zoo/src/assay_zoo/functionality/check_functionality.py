"""Every data set of a submission on every runtime of the zoo; and whether what it expects is right in the first place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.core.flow import Flow
from assay.core.job import DeriveToleranceJob
from assay.core.result import Result
from assay.errors import HarnessError
from assay.plugins import find_flow
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.functionality.inputs import inputs_check
from assay_zoo.functionality.judge import batch_check, flow_check
from assay_zoo.functionality.messages import BATCHES, SIZES, Data, DataRequest, GoldenAnswer, GoldenRequest, RowsRequest
from assay_zoo.functionality.run import Asked, Recipe, ask, derive_plain, limits_of, run_all
from assay_zoo.limited_process import Ending, Looked, run_limited
from assay_zoo.submission import SubmissionContext, SubmissionServices

_OF_A_SEQUENCE = re.compile(
    r"(^|_)([tl]|((max|num|n)?(len|length|time|seq|sequence|tok|token|frame|step|point|node|word|char|character)s?)+)(_|$)"
)
_TOLD = 5
"""Problems of expected outputs in one sentence."""


def check_functionality(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """`functionality.data`, `.inputs`, `.golden`, one check for each flow, and `.dynamic-batch`. Raises HarnessError, UnknownName."""
    flows = [find_flow(name) for name in place.policy.flows]
    goldens = tools.scratch / "goldens"
    data = _read(place, goldens)
    if isinstance(data, Check):
        return [data]
    checks = [_failed("functionality.data", problem) for problem in data.problems]
    if not data.sets:
        none = "there is no data set to run; bring test_data_set_0 with input_0.pb and output_0.pb"
        return checks or [_failed("functionality.data", none)]
    checks += _inputs(data)
    limits, services = limits_of(place.policy.run), tools.services
    name = _name(place)
    recipes = [Recipe(f"{name}/data", goldens / "inputs", goldens / "expected")]
    recipes += [Recipe(f"{name}/batch", goldens / "batch")] if data.batched else []
    given, *others = ask(recipes, data.model, limits, services)
    batch = others[0] if others else None
    plain = derive_plain([given, *others], limits, services)
    checks.append(_golden(given, plain, goldens / "expected", data))
    every = [given, *([batch] if batch and not batch.why else [])]
    results = run_all(every, flows, limits, services)
    checks += [flow_check(_of(results, given, flow), flow.name, data.sets, _model(place)) for flow in flows]
    return checks + _batches(given, batch, results, flows, data, _model(place))


def _read(place: SubmissionContext, goldens: Path) -> Data | Check:
    """The data sets, or why they cannot be read at all."""
    metadata = place.metadata
    free = (
        tuple(port.name for port in metadata.inputs if port.shape and isinstance(port.shape[0], str))
        if metadata
        else None
    )
    request = DataRequest(str(place.folder), str(place.folder / _model(place)), str(goldens), free)
    looked = _apart("assay_zoo.functionality.data:read_data_inside", request)
    if looked.ending is Ending.OK:
        return msgspec.json.decode(looked.value, type=Data)
    reason = looked.sentence.replace(f"{place.folder}/", "")[-300:]
    return _failed("functionality.data", f"the data sets cannot be read: {reason}")


def _apart(target: str, request: DataRequest | GoldenRequest | RowsRequest) -> Looked:
    """In a limited process: what it opens is a stranger's. Raises HarnessError where no file is to blame."""
    asked = msgspec.json.encode(request).decode()
    (looked,) = run_limited(target, [asked], seconds=120, memory_bytes=8_000_000_000, written_bytes=4_000_000_000)
    if looked.ending is Ending.HARNESS:
        raise HarnessError(f"the process that reads the data sets: {looked.sentence}")
    return looked


def _inputs(data: Data) -> list[Check]:
    """Nothing where there are two different samples at least that a wrong model would answer in another way than the right one."""
    checks = inputs_check(data.telling, data.samples, data.sets[0])
    if data.held:
        sentence = (
            f"the model has the input of {data.held} among its weights: whether it knows the answer a person has to see"
        )
        checks.append(Check("functionality.inputs", CheckOutcome.UNDECIDED, sentence, data.held))
    return checks


def _golden(given: Asked, plain: Sequence[DeriveToleranceJob], expected: Path, data: Data) -> Check:
    """What the submitter expects, against the oracle: a wrong golden is no fault of any backend."""
    name = "functionality.golden"
    if given.why:
        sentence = (
            f"the expected outputs cannot be checked, for the oracle has no answer ({given.why}); a person must look"
        )
        return Check(name, CheckOutcome.UNDECIDED, sentence)
    request = GoldenRequest(plain[0], str(expected), data.sets)
    looked = _apart("assay_zoo.functionality.golden:hold_golden_inside", request)
    if looked.ending is not Ending.OK:
        raise HarnessError(f"the process that compares expected outputs: {looked.sentence}")
    answer = msgspec.json.decode(looked.value, type=GoldenAnswer)
    count, figures = len(data.sets), {"budget_used": answer.budget_used}
    if answer.problems:
        more = f" (and {len(answer.problems) - _TOLD} more)" if len(answer.problems) > _TOLD else ""
        sentence = f"the submitted outputs are not those of the model: {'; '.join(answer.problems[:_TOLD])}{more}"
        return Check(
            name,
            CheckOutcome.FAILED,
            sentence,
            answer.problems[0].partition(":")[0],
            executed=count,
            figures=dict(figures),
        )
    if answer.unproven:
        sentence = f"the submitted outputs agree with the oracle, and that proves nothing: {answer.unproven}"
        return Check(name, CheckOutcome.UNDECIDED, sentence, executed=count)
    sentence = f"the submitted outputs of {count} data sets are those of the float64 oracle"
    return Check(name, CheckOutcome.PASSED, sentence, executed=count, figures=dict(figures))


def _batches(
    given: Asked, batch: Asked | None, results: Sequence[Result], flows: Sequence[Flow], data: Data, path: str
) -> list[Check]:
    name = "functionality.dynamic-batch"
    if batch is None:
        return [Check(name, CheckOutcome.SKIPPED, f"not asked for: {data.unbatched}")]
    if batch.why and given.why:
        sentence = (
            f"batch {', '.join(map(str, SIZES))} cannot be checked, for the oracle has no answer; a person must look"
        )
        return [Check(name, CheckOutcome.UNDECIDED, sentence)]
    if batch.why:
        sentence = f"the model itself does not run at batch {', '.join(map(str, SIZES))}: {batch.why}"
        return [_failed(name, sentence, path)]
    checks = [batch_check(_of(results, batch, flow), flow.name, BATCHES, path) for flow in flows]
    return [*_rows(batch, data, path), *checks]


def _rows(batch: Asked, data: Data, path: str) -> Iterator[Check]:
    """An answer to one row that follows from the rows beside it. One part in every data set makes no sequence."""
    free = [spec.shape[0] for spec in data.model.inputs if spec.shape and isinstance(spec.shape[0], str)]
    if any(map(is_of_a_sequence, free)) and not data.single:
        return
    looked = _apart("assay_zoo.functionality.rows:moved_row_inside", RowsRequest(str(batch.reference), data.quantizes))
    if looked.ending is Ending.OK and looked.value:
        sentence = (
            f"output {looked.value!r} gives a row another answer beside other rows, or at another place among them, than alone "
            f"({', '.join(BATCHES)}): a person has to see why"
        )
        yield Check("functionality.dynamic-batch", CheckOutcome.UNDECIDED, sentence, path)


def is_of_a_sequence(name: str) -> bool:
    """Whether the name of a first dimension says that its rows are parts of one sample: by whole words, `seqLen` as well as `seq_len`.
    Whatever is called a batch is one."""
    words = re.sub(r"[^a-z]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    return "batch" not in words and _OF_A_SEQUENCE.search(words) is not None


def _of(results: Sequence[Result], asked: Asked, flow: Flow) -> Result:
    return next(result for result in results if result.case == asked.case.name and result.flow == flow.name)


def _name(place: SubmissionContext) -> str:
    return place.metadata.name if place.metadata else place.name or place.folder.name


def _model(place: SubmissionContext) -> str:
    return place.metadata.model if place.metadata else "model.onnx"


def _failed(name: str, sentence: str, path: str = "") -> Check:
    """The sentences of data sets begin with the file that they speak of."""
    own = sentence.split(" ")[0] if sentence.startswith("test_data_set") else path
    return Check(name, CheckOutcome.FAILED, sentence, own)
