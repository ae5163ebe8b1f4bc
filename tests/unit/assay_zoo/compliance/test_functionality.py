"""Data sets on real backends: what is right passes, what is wrong fails and names whose fault it is."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from assay.testing.broken_models.craft import text
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.functionality.check_functionality import check_functionality
from assay_zoo.policy import ZooPolicy
from assay_zoo.services import open_tools
from assay_zoo.submission import SubmissionContext, SubmissionServices

pytestmark = [pytest.mark.usefixtures("warm_workers"), pytest.mark.heavy]  # real backends answer

WEIGHT = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
MODEL = "g (float[N,3] x) => (float[N,4] y) { [m] h = MatMul(x, w)  [r] y = Relu(h) }"


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SubmissionServices]:
    with open_tools(tmp_path_factory.mktemp("zoo")) as opened:
        yield opened


def model_of(body: str = MODEL) -> onnx.ModelProto:
    model = text(body)
    model.graph.initializer.append(numpy_helper.from_array(WEIGHT, "w"))
    return model


def submission(folder: Path, model: onnx.ModelProto, sets: list[tuple[np.ndarray, np.ndarray]]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for number, (given, expected) in enumerate(sets):
        data_set = folder / f"test_data_set_{number}"
        data_set.mkdir()
        (data_set / "input_0.pb").write_bytes(numpy_helper.from_array(given, "x").SerializeToString())
        (data_set / "output_0.pb").write_bytes(numpy_helper.from_array(expected, "y").SerializeToString())
    return folder


def pair(rows: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    given = np.random.default_rng(seed).standard_normal((rows, 3)).astype(np.float32)
    return given, np.maximum(given @ WEIGHT, 0).astype(np.float32)


def checked(folder: Path, tools: SubmissionServices, *flows: str) -> dict[str, list[Check]]:
    policy = ZooPolicy(name="zoo", flows=flows or ("onnxruntime",))
    shutil.rmtree(tools.scratch, ignore_errors=True)
    tools.scratch.mkdir()
    by_name: dict[str, list[Check]] = {}
    for check in check_functionality(
        SubmissionContext(folder=folder, root=folder, policy=policy, metadata=None), tools
    ):
        by_name.setdefault(check.name.removeprefix("functionality."), []).append(check)
    return by_name


def outcomes(by_name: dict[str, list[Check]]) -> dict[str, str]:
    return {name: "/".join(dict.fromkeys(check.outcome.value for check in checks)) for name, checks in by_name.items()}


def test_a_sound_submission_on_two_runtimes(tmp_path: Path, tools: SubmissionServices) -> None:
    folder = submission(tmp_path / "s", model_of(), [pair(2), pair(5, 2)])
    by_name = checked(folder, tools, "onnxruntime", "openvino-f32")
    assert outcomes(by_name) == {
        "golden": "passed", "onnxruntime": "passed", "openvino-f32": "passed", "dynamic-batch": "passed",
    }  # fmt: skip
    assert by_name["onnxruntime"][0].executed == 2
    assert [check.executed for check in by_name["dynamic-batch"]] == [4, 4]


def softmax(rows: np.ndarray) -> np.ndarray:
    return np.exp(rows) / np.exp(rows).sum(0)


SOFTMAX = "[s] y = Softmax <axis=0> (h)"
SUM = "[z] axis = Constant <value_int=0> ()  [s] y = CumSum (h, axis)"


@pytest.mark.parametrize(
    ("rows", "node", "answer", "sizes", "outcome"),
    [
        ("N", SOFTMAX, softmax, (2, 5), "undecided/passed"),
        ("batch_len", SUM, lambda rows: rows.cumsum(0), (2, 5), "undecided/passed"),
        ("frames", SOFTMAX, softmax, (2, 5), "passed"),
        ("frames", SUM, lambda rows: rows.cumsum(0), (1, 1), "undecided/passed"),
    ],
)
def test_a_row_whose_answer_follows_from_the_rows_beside_it(
    tmp_path: Path,
    tools: SubmissionServices,
    rows: str,
    node: str,
    answer: Callable[[np.ndarray], np.ndarray],
    sizes: tuple[int, int],
    outcome: str,
) -> None:
    """The rows of a sequence belong together; one row in each data set is a sample of a batch, whatever that is called."""
    body = f"g (float[{rows},3] x) => (float[{rows},4] y) {{ [m] h = MatMul(x, w)  {node} }}"
    pairs = [(given, answer(given @ WEIGHT)) for given, _ in (pair(sizes[0]), pair(sizes[1], 2))]
    by_name = checked(submission(tmp_path / "s", model_of(body), pairs), tools)
    assert outcomes(by_name)["dynamic-batch"] == outcome


@pytest.mark.parametrize(("of_the_data", "outcome"), [(True, "undecided"), (False, None)])
def test_a_model_that_has_its_samples_among_its_weights(
    tmp_path: Path, tools: SubmissionServices, of_the_data: bool, outcome: str | None
) -> None:
    samples, others = np.random.default_rng(0).standard_normal((2, 4, 16)).astype(np.float32)
    weights = 3 * (samples if of_the_data else others).T
    model = text("g (float[N,16] x) => (float[N,4] y) { [m] y = MatMul(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    sets = [(rows, rows @ weights) for rows in (samples[:1], samples[1:])]
    assert outcomes(checked(submission(tmp_path / "s", model, sets), tools)).get("inputs") == outcome


GIVEN, EXPECTED = pair(2)
WRONG_STRUCTURE = {
    "a scalar": np.float32(EXPECTED[0, 0]),
    "one row": EXPECTED[:1],
    "broadcast": EXPECTED[:, :1],
    "float64": EXPECTED.astype(np.float64),
    "int64": EXPECTED.astype(np.int64),
}
WRONG_VALUES = {
    "off by 1.9e-3": EXPECTED + np.float32(1.9e-3),
    "one value twice as large": EXPECTED * np.where(np.arange(4) == EXPECTED[0].argmax(), 2, 1).astype(np.float32),
    "NaN that nobody computes": np.where(EXPECTED.max() == EXPECTED, np.float32(np.nan), EXPECTED),
}


def test_expected_outputs_of_another_structure_are_the_submitters_fault(
    tmp_path: Path, tools: SubmissionServices
) -> None:
    """What a comparator that broadcasts or casts lets through: each set is named, and no runtime is blamed."""
    folder = submission(
        tmp_path / "s", model_of(), [pair(2, 3), *((GIVEN, np.asarray(array)) for array in WRONG_STRUCTURE.values())]
    )
    by_name = checked(folder, tools)
    assert outcomes(by_name) == {"golden": "failed", "onnxruntime": "passed", "dynamic-batch": "passed"}
    sentence = by_name["golden"][0].sentence
    assert "test_data_set_0" not in sentence
    assert all(f"test_data_set_{number}:" in sentence for number in range(1, 6)), sentence


def test_a_declared_shape_that_only_a_run_can_refute(tmp_path: Path, tools: SubmissionServices) -> None:
    """NonZero: the number of its columns is not inferred. A name stands for one size in inputs and outputs."""
    model = text("g (float[N] x) => (int64[1,N] y) { [a] y = NonZero(x) }")
    whole, part = np.array([1, 2, 4], np.float32), np.array([1, 0, 4], np.float32)
    sets = [(whole, np.array([[0, 1, 2]])), (part, np.array([[0, 2]]))]
    (check,) = checked(submission(tmp_path / "s", model, sets), tools)["golden"]
    assert check.outcome is CheckOutcome.FAILED
    assert "test_data_set_0" not in check.sentence
    sentence = "test_data_set_1: the model declares the shape [1, 3] for its output 'y', and it gives [1, 2]"
    assert sentence in check.sentence


@pytest.mark.parametrize(
    "trap",
    [next(iter(WRONG_VALUES)), *(pytest.param(value, marks=pytest.mark.slow) for value in list(WRONG_VALUES)[1:])],
)
def test_wrong_expected_values_are_the_submitters_fault(trap: str, tmp_path: Path, tools: SubmissionServices) -> None:
    folder = submission(tmp_path / "s", model_of(), [pair(2, 3), (GIVEN, WRONG_VALUES[trap])])
    by_name = checked(folder, tools)
    assert outcomes(by_name) == {"golden": "failed", "onnxruntime": "passed", "dynamic-batch": "passed"}
    assert by_name["golden"][0].path == "test_data_set_1"


def test_nan_at_the_same_place_is_an_answer(tmp_path: Path, tools: SubmissionServices) -> None:
    model = text("g (float[2,3] x) => (float[2,3] y) { [r] y = Sqrt(x) }")
    given = np.array([[1, -1, 4], [9, 16, 2]], np.float32)
    with np.errstate(invalid="ignore"):
        folder = submission(tmp_path / "s", model, [(given, np.sqrt(given))])
    # A batch of two is no free one.
    assert outcomes(checked(folder, tools)) == {"golden": "passed", "onnxruntime": "passed", "dynamic-batch": "skipped"}


def test_nothing_to_run_never_passes(tmp_path: Path, tools: SubmissionServices) -> None:
    assert outcomes(checked(submission(tmp_path / "s", model_of(), []), tools)) == {"data": "failed"}


def test_incomplete_sets_fail_and_the_others_are_run(tmp_path: Path, tools: SubmissionServices) -> None:
    folder = submission(tmp_path / "s", model_of(), [pair(2, seed) for seed in range(5)])
    (folder / "test_data_set_1" / "output_0.pb").unlink()
    (folder / "test_data_set_2" / "input_0.pb").unlink()
    (folder / "test_data_set_3" / "output_0.pb").write_bytes(b"\xff\xff nonsense")
    (folder / "test_data_set_4" / "output_0.pb").rename(folder / "test_data_set_4" / "output_3.pb")
    by_name = checked(folder, tools)
    assert all(check.outcome is CheckOutcome.FAILED for check in by_name["data"])
    sentences = [check.sentence for check in by_name["data"]]
    assert len(sentences) == 4
    assert "test_data_set_1 has 0 outputs, the model 1" in sentences[0]
    assert "test_data_set_2 has 0 inputs, the model 1" in sentences[1]
    assert "test_data_set_3/output_0.pb cannot be read" in sentences[2]
    assert "test_data_set_4/output_3.pb is no output of the model" in sentences[3]
    assert by_name["onnxruntime"][0].executed == 1


def test_a_batch_that_is_not_free_after_all(tmp_path: Path, tools: SubmissionServices) -> None:
    """Declared free, and built for two rows."""
    body = "g (float[N,3] x) => (float[N,4] y) <int64[2] s = {2, 4}> { [m] h = MatMul(x, w) [k] k = Reshape(h, s) [r] y = Relu(k) }"
    folder = submission(tmp_path / "s", model_of(body), [pair(2)])
    by_name = checked(folder, tools)
    assert outcomes(by_name) == {"golden": "passed", "onnxruntime": "passed", "dynamic-batch": "failed"}


def test_an_operator_that_the_runtime_lacks_is_named(tmp_path: Path, tools: SubmissionServices) -> None:
    model = text(
        "g (float[N,3] x) => (float[N,3] y) { [a] y = Relu(x) }",
        '<ir_version: 9, opset_import: ["" : 17, "acme" : 1]>\n',
    )
    model.graph.node[0].CopyFrom(helper.make_node("Frob", ["x"], ["y"], name="frob", domain="acme"))
    given = pair(2)[0]
    by_name = checked(submission(tmp_path / "s", model, [(given, given)]), tools)
    assert by_name["onnxruntime"][0].outcome is CheckOutcome.FAILED
    assert "Frob" in by_name["onnxruntime"][0].sentence
    assert by_name["golden"][0].outcome is CheckOutcome.UNDECIDED
