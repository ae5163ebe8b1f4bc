"""The model whose every answer is zero, by which a metric shows that it depends on the model."""

from __future__ import annotations

import json
import math
from pathlib import Path

import msgspec
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from assay.core.sandbox import Ending, Sandboxed, SandboxLimits
from assay_zoo.accuracy.metric_depends import depends_check, silence
from assay_zoo.accuracy.notebook_report import METRIC, REPORT, Report, Trouble
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.metadata import Claim, Metadata
from assay_zoo.policy import RunLimits, ZooPolicy
from assay_zoo.submission import SubmissionContext

pytestmark = pytest.mark.usefixtures("warm_readers")

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '


@pytest.mark.parametrize(
    ("graph", "zero"),
    [
        ("(float[2] x) => (float[2] y) { y = Exp (x) }", 1),
        ("(float[2] x) => (int64[1] y) { a = Exp (x)\n y = ArgMax (a) }", 1),
        ("(float[2] x) => (bool[2] y) { y = Greater (x, x)\n z = Not (y) }", 1),
        ("(float[2] x) => (float[2] y, uint8[2] z) { y = Exp (x)\n z = Cast <to = 2> (y) }", 2),
        ("(float[2] x) => (string[2] y) { y = Cast <to = 8> (x) }", 0),
    ],
)
def test_every_answer_of_numbers_is_zero(tmp_path: Path, graph: str, zero: int) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + graph), str(path))
    before = path.read_bytes()
    assert silence(str(path)) == [zero, 1 - min(zero, 1)]
    if not zero:
        assert path.read_bytes() == before
        return
    onnx.checker.check_model(str(path), full_check=True)
    for value in ReferenceEvaluator(str(path)).run(None, {"x": np.array([1, 2], np.float32)}):
        assert not np.any(value)


class _Ran:
    """A sandbox in which the notebook ends as told, and writes `metric`."""

    def __init__(self, metric: float | None, ending: Ending, trouble: str) -> None:
        self._metric, self._ending = metric, ending
        self._report = Report(trouble=Trouble(kind=trouble, cell=1, line=7) if trouble else None)
        self.model = b""

    def run(self, command: list[str], inputs: dict[str, Path], output: Path, limits: SandboxLimits) -> Sandboxed:
        output.mkdir(parents=True)
        self.model = (inputs["submission"] / "model.onnx").read_bytes()
        if self._ending in (Ending.OK, Ending.ERROR):
            (output / REPORT).write_bytes(msgspec.json.encode(self._report))
        if self._metric is not None:
            (output / METRIC).write_text(json.dumps(self._metric))
        return Sandboxed(ending=self._ending, sentence="it ended")


FLOATS = "(float[2] x) => (float[2] y) { y = Exp (x) }"
BESIDE_TEXT = "(float[2] x) => (float[2] y, string[2] z) { y = Exp (x)\n z = Cast <to = 8> (x) }"


def asked(
    folder: Path,
    metric: float | None,
    ending: Ending = Ending.OK,
    trouble: str = "",
    *,
    graph: str | Path = FLOATS,
    value: float = 0.9,
    memory_bytes: int = 4 << 30,
) -> tuple[Check, bytes]:
    """The check, and the model that the notebook was given."""
    (folder / "in").mkdir()
    model = folder / "in" / "model.onnx"
    if isinstance(graph, Path):
        graph.rename(model)
    else:
        onnx.save(onnx.parser.parse_model(graph if graph.startswith("<") else HEAD + graph), str(model))
    claim = Claim(metric="top1", value=0.9, tolerance=0.01, read="file:metric.json")
    place = SubmissionContext(
        folder=folder / "in", root=folder, policy=ZooPolicy(name="zoo", run=RunLimits(memory_bytes=memory_bytes)),
        metadata=Metadata.model_construct(accuracy=claim),
    )  # fmt: skip
    sandbox = _Ran(metric, ending, trouble)
    check = depends_check(place, value, sandbox, folder)  # type: ignore[arg-type]
    return check, sandbox.model


@pytest.mark.parametrize(
    ("metric", "outcome"),
    [
        (0.1, CheckOutcome.PASSED),
        (0.9, CheckOutcome.FAILED),
        (0.9 + 1e-9, CheckOutcome.FAILED),
        (0.905, CheckOutcome.FAILED),
        (0.92, CheckOutcome.PASSED),
        (math.nan, CheckOutcome.PASSED),
        (None, CheckOutcome.UNDECIDED),
    ],
)
def test_a_metric_that_stays_within_its_tolerance_depends_on_nothing(
    tmp_path: Path, metric: float | None, outcome: CheckOutcome
) -> None:
    check, model = asked(tmp_path, metric)
    assert check.outcome is outcome, check.sentence
    assert b"y__answer" in model, "the notebook is given the silent model"


@pytest.mark.parametrize(
    ("ending", "trouble", "outcome"),
    [
        (Ending.ERROR, "exception", CheckOutcome.UNDECIDED),
        (Ending.TIMEOUT, "", CheckOutcome.UNDECIDED),
        (Ending.OUT_OF_MEMORY, "", CheckOutcome.UNDECIDED),
        (Ending.CRASH, "", CheckOutcome.UNDECIDED),
        (Ending.INFRASTRUCTURE, "", CheckOutcome.INFRASTRUCTURE),
    ],
)
def test_a_notebook_that_fails_on_the_silent_model_shows_nothing(
    tmp_path: Path, ending: Ending, trouble: str, outcome: CheckOutcome
) -> None:
    check, _ = asked(tmp_path, 0.1, ending, trouble)
    assert check.outcome is outcome, check.sentence


def test_a_metric_of_an_output_that_could_not_be_silenced_is_not_blamed(tmp_path: Path) -> None:
    check, _ = asked(tmp_path, 0.9, graph=BESIDE_TEXT)
    assert check.outcome is CheckOutcome.UNDECIDED
    assert "1 of its outputs" in check.sentence


def test_only_a_model_without_numbers_is_skipped(tmp_path: Path) -> None:
    check, model = asked(tmp_path, 0.9, graph="(float[2] x) => (string[2] y) { y = Cast <to = 8> (x) }")
    assert check.outcome is CheckOutcome.SKIPPED
    assert not model


@pytest.mark.usefixtures("new_readers")
@pytest.mark.parametrize(
    ("graph", "memory_bytes"),
    [
        (FLOATS, 32 << 20),
        ('<ir_version: 8, opset_import: ["other" : 1]> g (float[2] x) => (float[2] y) { y = other.Op (x) }', 4 << 30),
    ],
    ids=["killed", "no operators of ONNX"],
)
def test_a_model_that_could_not_be_silenced_asks_a_person(tmp_path: Path, graph: str, memory_bytes: int) -> None:
    check, model = asked(tmp_path, 0.9, graph=graph, memory_bytes=memory_bytes)
    assert check.outcome is CheckOutcome.UNDECIDED, check.sentence
    assert not model


@pytest.mark.heavy
def test_a_large_model_is_silenced(tmp_path: Path) -> None:
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[9 << 20], raw_data=bytes(36 << 20))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [9 << 20]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [weights])
    path = tmp_path / "large.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    check, model = asked(tmp_path, 0.9, graph=path)
    assert check.outcome is CheckOutcome.FAILED, check.sentence
    assert len(model) > 36 << 20
