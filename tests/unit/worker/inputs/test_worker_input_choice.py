"""Which plan is kept: the first that the reference answers with something that tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.input_plan import InputRange
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.note import NoteCode, noted
from assay.errors import BadInputs, Lowering, Unsupported
from assay.models.goldens import write_golden
from assay.models.onnx_file import describe
from assay.numerics.oracle.evaluator import Evaluator
from assay.worker.inputs.input_choice import chosen, drawn, inputs_at, is_telling, new_plan
from assay.worker.inputs.rebatch import rebatch
from sentences import says

Samples = list[dict[str, Any]]


def job_of(folder: Path, text: str, weights: dict[str, Any] | None = None, inputs: Inputs | None = None) -> Job:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    model.graph.initializer.extend(numpy_helper.from_array(weight, name) for name, weight in (weights or {}).items())
    onnx.save(model, folder / "m.onnx")
    return VerifyJob(
        Case("m", describe(folder / "m.onnx"), inputs or Inputs(samples=2)), Flow("reference", "reference")
    )


PLAIN = "g (float[N, 4] x, int64[N, 4] i) => (float[N, 4] y) { f = Cast <to=1> (i) y = Add (x, f) }"


def test_the_first_plan_that_tells_something_is_kept(tmp_path: Path) -> None:
    job = job_of(tmp_path, PLAIN)

    def only_small(inputs: Samples) -> Samples:
        if any(sample["i"].max() > 1 for sample in inputs):
            raise Lowering("an index is too large")
        return [{"y": sample["x"]} for sample in inputs]

    inputs, outputs, plan = chosen(job, only_small)
    assert plan.changes == (noted(NoteCode.BITS_FED),)
    assert {number for sample in inputs for number in sample["i"].reshape(-1).tolist()} == {0, 1}
    assert np.array_equal(outputs[0]["y"], inputs[0]["x"])


def test_one_input_for_all_samples_is_no_better_than_others_that_are_answered_alike(tmp_path: Path) -> None:
    job = job_of(tmp_path, "g (uint8[3, 4] i) => (float[3, 4] y) { y = Cast <to=1> (i) }")
    _, outputs, plan = chosen(job, lambda inputs: [{"y": np.array([0.0, 1.0])} for _ in inputs])
    assert (plan, len(outputs)) == (new_plan(job), 2)


def test_answers_that_tell_nothing_are_kept_where_there_are_no_others(tmp_path: Path) -> None:
    job = job_of(tmp_path, PLAIN)
    _, outputs, plan = chosen(job, lambda inputs: [{"y": np.full(4, np.nan)} for _ in inputs])
    assert (plan, len(outputs)) == (new_plan(job), 2)


def test_what_no_value_would_change_is_said_at_once(tmp_path: Path) -> None:
    asked = []

    def never(inputs: Samples) -> Samples:
        asked.append(inputs)
        raise Unsupported("no such operator")

    with pytest.raises(Unsupported):
        chosen(job_of(tmp_path, PLAIN), never)
    assert len(asked) == 1


def test_the_refusal_of_the_first_is_raised_where_all_are_refused(tmp_path: Path) -> None:
    count = iter(range(9))

    def refuse(inputs: Samples) -> Samples:
        raise Lowering(f"refusal {next(count)}")

    with pytest.raises(Lowering, match="refusal 0"):
        chosen(job_of(tmp_path, PLAIN), refuse)


def test_a_laxer_answer_to_sizes_that_the_graph_refuses_is_not_taken(tmp_path: Path) -> None:
    inputs = Inputs(samples=1, dims={"A": (2, 2, 2), "B": (3, 3, 3)})
    job = job_of(tmp_path, "g (float[A] x, float[B] z) => (float[?] y) { y = Add (x, z) }", inputs=inputs)
    with pytest.raises(
        BadInputs, check=says("Add 'Add -> y': shapes [2] and [3] do not broadcast (tried with A=2, B=3)")
    ):
        chosen(job, lambda inputs: [{"y": np.zeros(0)} for _ in inputs])


def test_stated_values_are_fed(tmp_path: Path) -> None:
    ranges = {"i": InputRange(3, 5, choices=(3, 5)), "x": InputRange(7, 8)}
    job = job_of(tmp_path, PLAIN, inputs=Inputs(samples=3, ranges=ranges))
    samples = drawn(job, new_plan(job), samples=3)
    assert [set(sample["i"].reshape(-1).tolist()) for sample in samples] == [{3}, {5}, {3}]
    assert all(7 <= sample["x"].min() <= sample["x"].max() <= 8 for sample in samples)


def test_a_model_whose_state_has_its_batch_elsewhere_is_measured_at_other_batch_sizes(tmp_path: Path) -> None:
    text = """g (float[N, 6] x, float[2, N, 6] state, int64 rate) => (float[2, N, 6] y) {
      t = Add (x, state)
      f = Cast <to=1> (rate)
      y = Add (t, f)
    }"""
    job = job_of(tmp_path, text)
    feed = rebatch(job, drawn(job, new_plan(job), samples=2), 3)
    assert {name: array.shape for name, array in feed.items()} == {"x": (3, 6), "state": (2, 3, 6), "rate": ()}


@pytest.mark.parametrize(
    ("outputs", "telling"),
    [
        ([{"y": np.array([1.0, 2.0])}], True),
        ([{"y": np.array([1.0, 1.0])}], False),
        ([{"y": np.array([1.0, 1.0])}, {"y": np.array([2.0, 2.0])}], True),
        ([{"y": np.zeros((0, 3))}], False),
        ([{"y": np.array([np.nan, np.nan, 1.0])}], False),
        ([{"y": np.array([np.nan, 1.0, 2.0])}], True),
        ([{"y": np.array([1.0, np.nan, 1.0])}], False),
        ([{"flag": np.array([1, 1]), "y": np.array([1.0, 2.0])}], True),
        ([{"texts": np.array(["a", "a"], object)}], True),
    ],
)
def test_what_tells_something(outputs: Samples, telling: bool) -> None:
    assert is_telling(outputs) is telling


def test_other_inputs_that_are_all_answered_alike_tell_nothing() -> None:
    alike = [{"label": np.array([1]), "y": np.array([0.0, 1.0])} for _ in range(3)]
    others = [{"x": np.array([float(place)])} for place in range(3)]
    assert not is_telling(alike, others)
    assert is_telling(alike, [{"x": np.array([1.0])} for _ in range(3)])
    assert is_telling([*alike, {"label": np.array([1]), "y": np.array([0.5, 0.5])}], others)
    saturated = [{"y": np.array([1e-20 * place, 1.0])} for place in range(3)]
    assert not is_telling(saturated, others)
    assert is_telling([{"y": np.array([1e-4 * place, 1.0])} for place in range(3)], others)


def test_the_other_dimensions_stay_as_a_golden_has_them(tmp_path: Path) -> None:
    text = "g (float[N, ?, W] x) => (float[N, ?, W] y) { y = Relu (x) }"
    job = job_of(tmp_path, text, inputs=Inputs(golden=str(tmp_path / "golden"), dims={"W": (5, 5, 5)}))
    sample = {"x": np.zeros((2, 7, 3), np.float32)}
    write_golden(
        tmp_path / "golden", model=job.case.model, inputs=[sample], outputs=[{"y": sample["x"]}], seed=0, producer="p",
        producer_version="", who="w", reason="why", created_at="",
    )  # fmt: skip
    assert inputs_at(job, {"W": 5})["x"].shape == (2, 7, 5)


BAG = """g (int64[M] ids, int64[2] off) => (float[1, 4] y) {
    e = Gather(table, ids) begin = Slice(off, zero, one) end = Slice(off, one, two)
    part = Slice(e, begin, end, zero) y = ReduceMean <axes=[0]> (part)
}"""
WEIGHTS = {
    "table": np.eye(9, 4, dtype=np.float32),
    **{name: np.array([at]) for at, name in enumerate(("zero", "one", "two"))},
}


def _answering(job: Job) -> Any:
    evaluator = Evaluator(onnx.load(job.case.model.source))
    return lambda inputs: [
        dict(zip(evaluator.output_names, evaluator.evaluate(sample), strict=True)) for sample in inputs
    ]


def test_offsets_ascend_where_nothing_else_tells_anything(tmp_path: Path) -> None:
    job = job_of(tmp_path, BAG, WEIGHTS)
    with np.errstate(all="ignore"):
        inputs, outputs, plan = chosen(job, _answering(job))
    assert is_telling(outputs)
    assert plan.ranges["off"].kind == "ascending"
    assert all(sample["off"].tolist() == [0, sample["ids"].size] for sample in inputs)


MASKED = """g (float[1, T] x, int64[1] n) => (float[1, T] y) {
    z = Mul(x, zero) o = Add(z, one) row = CumSum(o, axis)
    f = Cast<to = 1>(n) short = Less(f, least) long = Not(short)
    within = LessOrEqual(row, f) k = And(within, long) y = Where(k, x, zero)
}"""


def test_lengths_are_whole_where_nothing_else_tells_anything(tmp_path: Path) -> None:
    numbers = {"zero": 0, "one": 1, "least": 12}
    stored = {name: np.array(number, np.float32) for name, number in numbers.items()} | {"axis": np.array(1)}
    job = job_of(tmp_path, MASKED, stored)
    inputs, outputs, _ = chosen(job, _answering(job))
    assert is_telling(outputs)
    assert all(sample["n"].tolist() == [sample["x"].shape[1]] for sample in inputs)


SUMS = """g (float[T, 4] x, int64[B] cu) => (float[4] y) {
    last = Size(cu) trips = Sub(last, first) go = Constant<value = bool {1}>() none = Constant<value_floats = [0.0, 0.0, 0.0, 0.0]>()
    y = Loop(trips, go, none) <body = b (int64 i, bool c, float[4] s) => (bool more, float[4] t) {
        more = Identity(c) j = Add(i, first) begin = Gather(cu, i) end = Gather(cu, j)
        from = Unsqueeze(begin, zero) to = Unsqueeze(end, zero)
        part = Slice(x, from, to, zero) sum = ReduceSum<keepdims=0>(part, zero) t = Add(s, sum)
    }>
}"""


def test_sizes_are_searched_where_those_of_the_plan_tell_nothing(tmp_path: Path) -> None:
    job = job_of(tmp_path, SUMS, {"zero": np.array([0]), "first": np.array(1)})
    inputs, outputs, plan = chosen(job, _answering(job))
    assert is_telling(outputs)
    assert plan.changes[0].code == NoteCode.SIZES_BY_TRIAL
    assert all(sample["cu"].size > 1 for sample in inputs)


@pytest.mark.parametrize("other", [0.0, np.nan])
def test_sizes_are_searched_until_every_output_of_real_numbers_moves(other: float, tmp_path: Path) -> None:
    """Features of sound: too short a recording is refused, of a short one only how many frames there are moves."""
    job = job_of(tmp_path, "g (float[N] x) => (float[N] y) { y = Relu (x) }")
    refused, still = 100, 300

    def answer(inputs: Samples) -> Samples:
        if inputs[0]["x"].size < refused:
            raise ValueError("too short")
        moves = [
            sample["x"] if sample["x"].size >= still else np.where(sample["x"] > 0, other, 0.0) for sample in inputs
        ]
        return [{"y": move, "frames": np.array([place])} for place, move in enumerate(moves)]

    inputs, _, plan = chosen(job, answer)
    assert plan.changes[0].code == NoteCode.SIZES_BY_TRIAL
    assert inputs[0]["x"].size >= still


def test_an_index_into_what_nobody_knows_is_more_than_the_first_place(tmp_path: Path) -> None:
    text = "g (int64[N] ids) => (float[N, D] y) { m = ReduceMax<keepdims=0>(ids) d = Add(m, one) y = OneHot(ids, d, ends) }"
    job = job_of(tmp_path, text, {"one": np.array(1), "ends": np.array([0, 1], np.float32)})
    _, outputs, plan = chosen(job, _answering(job))
    assert is_telling(outputs)
    assert (plan.ranges["ids"].low, plan.ranges["ids"].high) == (0, 3)


def test_answers_without_nan_are_preferred(tmp_path: Path) -> None:
    """The mean of an empty part is none: each part has an element where the offsets end before the last one."""
    job = job_of(
        tmp_path,
        "g (float[4] x, int64[2] off) => (float[4] y) { f = Cast <to=1> (off) s = ReduceSum (f) y = Add (x, s) }",
    )

    def means(inputs: Samples) -> Samples:
        full = [sample["off"][0] == 0 < sample["off"][1] < 4 for sample in inputs]
        return [
            {"y": np.where(np.arange(4) < 3, sample["x"], 0 if is_full else np.nan)}
            for sample, is_full in zip(inputs, full, strict=True)
        ]

    inputs, outputs, plan = chosen(job, means)
    assert not any(np.isnan(output["y"]).any() for output in outputs)
    assert plan.changes == (noted(NoteCode.ASCENDING_FED, input="off", last=3),)
    assert all(sample["off"].tolist() == [0, 3] for sample in inputs)


def test_answers_with_nan_are_kept_where_there_are_no_others(tmp_path: Path) -> None:
    job = job_of(tmp_path, PLAIN)
    _, outputs, plan = chosen(job, lambda inputs: [{"y": np.array([1.0, 2.0, np.nan])} for _ in inputs])
    assert (plan, len(outputs)) == (new_plan(job), 2)


@pytest.mark.parametrize(("columns", "fewer", "samples"), [(8192, True, 2), (8192, False, 4), (8, True, 4)])
def test_of_a_model_that_takes_long_fewer_samples_are_drawn_unless_somebody_said_how_many(
    tmp_path: Path, columns: int, fewer: bool, samples: int
) -> None:
    """Those that are drawn are the first ones of as many as there would be."""
    text = f"g (float[8192, 256] x) => (float[8192, {columns}] y) {{ y = MatMul (x, w) }}"
    job = job_of(tmp_path, text, {"w": np.zeros((256, columns), np.float32)}, Inputs(fewer=fewer))
    inputs, outputs, plan = chosen(job, lambda inputs: [{"y": sample["x"]} for sample in inputs])
    assert (len(inputs), len(outputs)) == (samples, samples)
    assert plan.products == (8192 * 256 * columns if samples == 2 else 0)
    first = drawn(job, new_plan(job), samples=1)[0]
    assert np.array_equal(inputs[0]["x"], first["x"])
