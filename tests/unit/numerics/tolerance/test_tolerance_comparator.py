"""A profile judges what it knows; everything else keeps the comparator's own limits, so that nothing goes unjudged."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from onnx import numpy_helper, parser

from assay.core.case import Case, Contract, Inputs, Tolerance
from assay.core.dtype import numpy_dtype
from assay.core.empty_result import empty_result
from assay.core.finding import FindingCode
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.core.result import UntakenBranch, VerifyResult
from assay.errors import UsageError
from assay.judge.chosen_tolerance import by_choice
from assay.judge.words.finding_text import finding_text
from assay.models.load_tolerance import load_tolerance
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.tolerance_tables import share_out, table_of, with_table
from assay.ports import Tensor
from assay.testing.builders import make_job

DECLARED = {"y": "float32"}


def _samples(count: int) -> list[dict[str, Tensor]]:
    return [{"x": np.random.default_rng(seed).standard_normal((1, 16)).astype(np.float32)} for seed in range(count)]


def _judging(count: int, contract: Contract | None = None) -> tuple[ToleranceComparator, list[dict[str, Tensor]]]:
    text = "g (float[1, 16] x) => (float[1, 16] y) { y = Softmax<axis=-1>(x) }"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    profile = derive_model(model, _samples(count), "float32")
    expected = [{"y": sample["y"]} for sample in profile.oracle]
    return ToleranceComparator(contract or Contract(), profile), expected


def _off(expected: list[dict[str, Tensor]], factor: float) -> list[dict[str, Tensor]]:
    return [{"y": (sample["y"] * factor).astype(np.float32)} for sample in expected]


def test_the_profile_decides_where_nothing_else_was_said() -> None:
    judging, expected = _judging(3)
    comparisons, findings = judging.compare(_off(expected, 1.0), expected, DECLARED)
    assert findings == ()
    assert 0 < comparisons[0].metrics["budget_used"] < 1
    comparisons, findings = judging.compare(_off(expected, 1 + 2**-16), expected, DECLARED)
    assert [finding.kind for finding in findings] == ["values"]
    assert comparisons[0].findings == findings
    assert comparisons[0].metrics["budget_used"] > 1
    assert comparisons[0].metrics["share_out_of_torch"] < 1


@pytest.mark.parametrize(
    ("body", "proven"),
    [("y = Softmax<axis=-1>(x)", True), ("q = QuantizeLinear(x, s) y = DequantizeLinear(q, s)", False)],
)
def test_a_sample_without_a_tolerance_of_its_own_proves_a_fault_only_where_nothing_jumps(
    body: str, proven: bool
) -> None:
    text = f"g (float[1, 16] x) => (float[1, 16] y) <float s = {{0.05}}> {{ {body} }}"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    inputs = _samples(3)
    expected = [{"y": sample["y"]} for sample in derive_model(model, inputs, "float32").oracle]
    judging = ToleranceComparator(Contract(), derive_model(model, inputs[:1], "float32"))
    actual = [*_off(expected[:2], 1.0), {"y": (expected[2]["y"] + 0.5).astype(np.float32)}]
    comparisons, findings = judging.compare(actual, expected, DECLARED)
    assert [finding.kind for finding in findings] == (["values"] if proven else [])
    why = comparisons[0].degenerate
    assert (why is not None and why.code is FindingCode.BEYOND_THE_OTHERS) is not proven
    wrong = [_off(expected[:1], 1.5)[0], *actual[1:]]
    assert judging.compare(wrong, expected, DECLARED)[1], "the first sample alone is proof"


@pytest.mark.parametrize(
    ("golden", "codes"),
    [(True, [NoteCode.GOLDEN_DISAGREES]), (False, [NoteCode.REFERENCE_DISAGREES]), (None, [])],
)
def test_what_is_expected_and_is_not_the_models_own_answer_is_called_what_it_is(
    golden: bool | None, codes: list[NoteCode]
) -> None:
    judging, own = _judging(3)
    judging = replace(judging, golden=golden)
    judging.compare(_off(own, 1.0), _off(own, 1.01), DECLARED)
    assert [remark.code for remark in judging.remarks] == codes


@pytest.mark.parametrize("golden", ["", "net.golden"])
def test_a_job_knows_whether_a_golden_is_expected(golden: str) -> None:
    job = make_job("net", "onnxruntime", "verify")
    assert isinstance(job, VerifyJob)
    case = msgspec.structs.replace(job.case, inputs=Inputs(golden=golden))
    assert load_tolerance(msgspec.structs.replace(job, case=case), Contract()).golden is bool(golden)


def test_a_pass_in_a_coarse_type_says_what_it_cannot_see() -> None:
    text = "g (float[1, 16] x) => (float[1, 16] y) { y = Softmax<axis=-1>(x) }"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    profile = derive_model(model, _samples(3), "bfloat16")
    expected = [{"y": sample["y"]} for sample in profile.oracle]
    judging = ToleranceComparator(Contract(precision="bfloat16"), profile)
    _, findings = judging.compare(_off(expected, 1 + 2**-9), expected, DECLARED)
    assert findings == ()
    (hidden,) = (remark for remark in judging.remarks if remark.code == NoteCode.HIDDEN_BY_NOISE)
    share = float(str(hidden.facts["share"]))
    assert 2**-8 < share < 2**-4
    for factor, passes in ((1 + 1.5 * share, False), (1 + 0.5 * share, True)):
        again = ToleranceComparator(Contract(precision="bfloat16"), profile)
        _, findings = again.compare(_off(expected, factor), expected, DECLARED)
        assert (not findings) is passes
        assert any(remark.code == NoteCode.HIDDEN_BY_NOISE for remark in again.remarks) is passes
    fine, expected = _judging(3)
    fine.compare(_off(expected, 1.0), expected, DECLARED)
    assert not any(remark.code == NoteCode.HIDDEN_BY_NOISE for remark in fine.remarks)


def test_an_explicit_tolerance_wins_and_the_figures_are_told_all_the_same() -> None:
    judging, expected = _judging(3, Contract(tolerances={"y": Tolerance(0.1, 0.1)}))
    comparisons, findings = judging.compare(_off(expected, 1.01), expected, DECLARED)
    assert findings == ()
    assert comparisons[0].metrics["budget_used"] < 1
    assert comparisons[0].metrics["budget_norm"] > 1


def test_samples_beyond_the_profile_are_judged_by_its_noisiest_element() -> None:
    judging, _ = _judging(3)
    _, expected = _judging(6)
    comparisons, findings = judging.compare(_off(expected, 1.0), expected, DECLARED)
    assert findings == ()
    assert comparisons[0].metrics["budget_used"] < 1
    assert judging.remarks[-1] == noted(NoteCode.DERIVED_ON_FIRST, known=3, samples=6)
    wrong = _off(expected, 1.0)
    wrong[5] = {"y": wrong[5]["y"] * np.float32(1.001)}
    comparisons, findings = judging.compare(wrong, expected, DECLARED)
    assert [finding.kind for finding in findings] == ["values"]
    assert comparisons[0].findings == findings
    assert comparisons[0].metrics["budget_used"] > 1


@pytest.mark.parametrize("count", [2, 4])
def test_samples_that_the_profile_does_not_know_are_not_waved_through(count: int) -> None:
    judging, _ = _judging(3)
    _, expected = _judging(count)
    _, findings = judging.compare(_off(expected, 1.5), expected, DECLARED)
    assert "values" in [finding.kind for finding in findings]


def test_a_missing_output_and_another_shape_are_found() -> None:
    judging, expected = _judging(3)
    _, findings = judging.compare([{} for _ in expected], expected, DECLARED)
    assert [finding.kind for finding in findings] == ["missing_output"]
    _, findings = judging.compare([{"y": sample["y"][0]} for sample in _off(expected, 1.0)], expected, DECLARED)
    assert [finding.kind for finding in findings] == ["shape"]


def test_nan_is_never_within() -> None:
    judging, expected = _judging(3)
    wrong = _off(expected, 1.0)
    wrong[1]["y"][0, 3] = np.nan
    _, findings = judging.compare(wrong, expected, DECLARED)
    assert "nan" in [finding.kind for finding in findings]


@pytest.mark.parametrize("choice", ["loose", "fixed", "fixed:1", "fixed:1,-1", "fixed:nan,0", "fixed:a,b"])
def test_a_choice_that_is_none_is_refused(choice: str) -> None:
    with pytest.raises(UsageError, match="fixed:1e-3,1e-5"):
        table_of(choice)


def test_the_tables_are_those_of_torch_and_onnx() -> None:
    assert table_of("torch") == Tolerance(1.3e-6, 1e-5)
    assert table_of("onnx") == Tolerance(1e-3, 1e-7)
    assert table_of("fixed:0.5,0") == Tolerance(0.5, 0.0)
    expected = np.ones(4, np.float32)
    actual = expected + np.array([0, 2e-5, 5e-4, 2e-3], np.float32)
    assert share_out([(actual, expected)], "float32") == {"share_out_of_torch": 0.75, "share_out_of_onnx": 0.25}


@pytest.mark.parametrize(
    ("dtype", "rtol"), [("float64", 1e-7), ("float32", 1.3e-6), ("float16", 1e-3), ("bfloat16", 1.6e-2)]
)
def test_torchs_table_is_taken_by_the_type_of_the_output(dtype: str, rtol: float) -> None:
    contract = with_table(Contract(tolerance="torch", tolerances={"named": Tolerance(0.5, 0.5)}))
    expected = {name: np.linspace(1, 2, 64).astype(numpy_dtype(dtype)) for name in ("y", "named")}
    declared = dict.fromkeys(expected, dtype)
    comparisons, _ = ToleranceComparator(contract).compare([expected], [expected], declared)
    by_output = {comparison.output: (comparison.rtol, comparison.tolerance) for comparison in comparisons}
    assert by_output == {"y": (rtol, "chosen"), "named": (0.5, "chosen")}
    job = VerifyJob(Case("case", Model("m", "m.onnx", "0" * 64), contract=Contract()), Flow("flow", "backend"))
    recorded, _ = ToleranceComparator(Contract(tolerance="default")).compare([expected], [expected], declared)
    result = msgspec.structs.replace(empty_result(job), comparisons=recorded)
    again = by_choice(result, job, "torch")
    assert isinstance(again, VerifyResult)
    assert [comparison.rtol for comparison in again.comparisons] == [rtol, rtol], (
        "judged again as in a run with that choice"
    )
    user = with_table(Contract(tolerance="torch", tolerances={"*": Tolerance(0.5, 0.5)}))
    assert set(user.tolerances) == {"*"}, "limits of the user's own come first"


def test_rows_that_noise_lets_in_or_out_prove_nothing_where_they_are_others() -> None:
    text = """g (float[64] x) => (int64[1, k] y)
    { half = Constant<value_float = 0.5>()\n h = Mul(x, half)\n over = Greater(h, limit)\n y = NonZero(over) }"""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    x = np.linspace(0, 1, 64, dtype=np.float32)
    model.graph.initializer.append(numpy_helper.from_array(x[32] * np.float32(0.5), "limit"))
    profile = derive_model(model, [{"x": x}], "bfloat16")
    assert profile.header.outputs[0].kind == "none"
    judging, expected = ToleranceComparator(Contract(), profile), [{"y": profile.oracle[0]["y"]}]
    declared = {"y": "int64"}
    comparisons, findings = judging.compare(expected, expected, declared)
    assert (findings, comparisons[0].degenerate) == ((), None)
    others: list[tuple[Tensor, list[str]]] = [
        (expected[0]["y"][:, 1:], []),
        (expected[0]["y"] + 1, []),
        (expected[0]["y"][0], ["shape"]),
        (expected[0]["y"].astype(np.int32), ["dtype"]),
    ]
    for rows, kinds in others:
        comparisons, findings = judging.compare([{"y": rows}], expected, declared)
        assert [finding.kind for finding in findings] == kinds, rows.shape
        assert kinds or "its numbers are others" in finding_text(comparisons[0].degenerate)
    named = ToleranceComparator(Contract(tolerances={"y": Tolerance(0.0, 0.0)}), profile)
    assert named.compare([{"y": others[0][0]}], expected, declared)[1], "a limit that the user gave stands"


BRANCHING = """<ir_version: 10, opset_import: ["" : 21]> g (float[4] x) => (float[4] y)
{
  zero = Constant<value_float = 0.0>()
  axes = Constant<value_ints = [0]>()
  mean = ReduceMean<keepdims = 0>(x, axes)
  high = Greater(mean, zero)
  y = If(high)<then_branch = a () => (float[4] up) { up = Exp(x) }, else_branch = b () => (float[4] down) { down = Tanh(x) }>
}"""


@pytest.mark.parametrize(("signs", "branches"), [((1, 1), ["else"]), ((1, -1), [])])
def test_a_branch_that_no_sample_takes_is_named(signs: tuple[int, ...], branches: list[str]) -> None:
    model = parser.parse_model(BRANCHING)
    samples = [{"x": sign * np.array([1.0, 0.5, 2.0, 0.25], np.float32)} for sign in signs]
    profile = derive_model(model, samples, "float32")
    assert profile.header.untaken == tuple(UntakenBranch("y", branch) for branch in branches)


def test_an_index_that_a_grid_may_decide_proves_nothing_where_it_is_another() -> None:
    expected: list[dict[str, Tensor]] = [{"i": np.array([3, 1, 4, 1]), "z": np.ones(4, np.float32)}]
    declared = {"i": "int64", "z": "float32"}

    def told(index: list[int], contract: Contract, z: float = 1.0) -> tuple[list[str], str]:
        actual: list[dict[str, Tensor]] = [{"i": np.array(index), "z": np.full(4, z, np.float32)}]
        comparisons, findings = ToleranceComparator(contract).compare(actual, expected, declared)
        return [finding.kind for finding in findings], finding_text(comparisons[0].degenerate)

    int8 = Contract(precision="int8")
    assert told([3, 1, 4, 1], int8) == ([], "")
    kinds, doubt = told([3, 1, 5, 1], int8)
    assert (kinds, "may decide whole numbers otherwise" in doubt) == ([], True)
    assert told([3, 1, 4], int8)[0] == ["shape"]
    assert told([0, 0, 0, 1], int8)[0] == ["values"], "most of them"
    assert told([3, 1, 4, 1], int8, z=2.0)[0] == ["values"], "numbers have their multiple of the step"
    for exact in (Contract(precision="float32"), Contract(precision="int8", tolerances={"i": Tolerance(0.0, 0.0)})):
        assert told([3, 1, 5, 1], exact)[0] == ["values"]


def test_a_profile_of_another_graph_than_the_program_is_not_judged_by() -> None:
    """torch's exporter makes a plain scatter of a mean: its graph rounds nothing, and the program's right answers differed."""
    judging, expected = _judging(3)
    program = [{"y": sample["y"].astype(np.float64) * (1 + 2**-12)} for sample in expected]
    actual = [{"y": (sample["y"] * (1 + 2**-20)).astype(np.float32)} for sample in program]
    _, findings = judging.compare(actual, program, DECLARED)
    assert [finding.kind for finding in findings] == ["values"]
    translated = replace(judging, translated=True, remarks=[])
    _, findings = translated.compare(actual, program, DECLARED)
    assert findings == ()
    assert translated.remarks[0].code == NoteCode.CONVERSION_UNTRUE
    _, findings = translated.compare(_off(program, 1 + 2**-10), program, DECLARED)
    assert [finding.kind for finding in findings] == ["values"]
    rounded = [{"y": sample["y"].astype(np.float64) * (1 + 2**-22)} for sample in expected]
    _, findings = translated.compare(actual, rounded, DECLARED)
    assert [finding.kind for finding in findings] == ["values"], (
        "a graph whose constants alone were rounded is still the model"
    )
