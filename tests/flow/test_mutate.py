"""The gate under test: known traps are caught, survivors are explained, found inputs kill them, figures gate."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import assay
from assay.core.result import Outcome
from assay.models.goldens import read_golden, write_golden
from assay.models.onnx_file import open_model

F, I64 = TensorProto.FLOAT, TensorProto.INT64


def run_assay(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments], cwd=cwd, capture_output=True, text=True, timeout=240, check=False
    )


def save(path: Path, nodes: list, inputs: dict, outputs: dict, constants: Mapping[str, np.ndarray] = {}) -> Path:  # type: ignore[type-arg]
    graph = helper.make_graph(
        nodes,
        path.stem,
        [helper.make_tensor_value_info(name, *spec) for name, spec in inputs.items()],
        [helper.make_tensor_value_info(name, *spec) for name, spec in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


def record(path: Path, samples: list[dict[str, np.ndarray]]) -> Path:
    """A golden with the outputs of ONNX's reference evaluator."""
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(str(path))
    outputs = [dict(zip(evaluator.output_names, evaluator.run(None, one), strict=True)) for one in samples]
    folder = path.with_suffix(".golden")
    write_golden(
        folder, model=open_model(path), inputs=samples, outputs=outputs, seed=0, producer="reference",
        producer_version="", who="tests", why="a test", created_at="2026-11-21T00:00:00+00:00",
    )  # fmt: skip
    return folder


def outcomes(path: Path, golden: Path, mutants: list[str]) -> dict[str, Outcome]:
    """Each mutant as a flow of its own on ONNX Runtime, and the model itself, in one run."""
    text = "".join(
        f'[flow."m{place}"]\nbackend = "onnxruntime"\ntransforms = ["mutant:{mutant}"]\n'
        for place, mutant in enumerate(mutants)
    )
    config = path.with_suffix(".toml")
    config.write_text(text)
    flows = ["onnxruntime", *(f"m{place}" for place in range(len(mutants)))]
    checked = assay.check(path, flows=flows, golden=golden, config=config, measure=False, history=path.parent / "h")
    found = [result.outcome for result in sorted(checked.results, key=lambda r: flows.index(r.flow))]
    return dict(zip(["sound", *mutants], found, strict=True))


def all_caught(path: Path, golden: Path, mutants: list[str]) -> None:
    found = outcomes(path, golden, mutants)
    assert found.pop("sound") is Outcome.OK
    assert set(found.values()) == {Outcome.MISMATCH}, found


@pytest.mark.parametrize("image", ["smooth", "noise"])
def test_nearest_for_linear_is_seen_even_on_a_smooth_image(image: str, tmp_path: Path) -> None:
    """On a smooth ramp the nearest neighbour passes mean 1e-2, cosine 0.9998, PSNR 40 dB and SNR 35 dB."""
    path = save(
        tmp_path / "grid.onnx",
        [helper.make_node("GridSample", ["x", "grid"], ["y"], name="grid", mode="linear")],
        {"x": (F, [1, 1, 32, 32]), "grid": (F, [1, 16, 16, 2])},
        {"y": (F, [1, 1, 16, 16])},
    )
    rng = np.random.default_rng(0)
    ramp = np.add.outer(np.linspace(0, 1, 32), np.linspace(0, 1, 32))[None, None]
    x = (ramp if image == "smooth" else rng.normal(size=ramp.shape)).astype(np.float32)
    samples = [{"x": x, "grid": rng.uniform(-0.95, 0.95, (1, 16, 16, 2)).astype(np.float32)}]
    all_caught(path, record(path, samples), ["nearest-for-linear@grid", "flip-align-corners@grid"])


def test_the_traps_that_other_gates_let_through(tmp_path: Path) -> None:
    """A softmax of zeros and 0.09 added pass ExecuTorch's limits, twice the answer passes cosine, one outlier passes PSNR,
    and a lost output passes a comparator that only walks over what is there."""
    path = save(
        tmp_path / "net.onnx",
        [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
            helper.make_node("LayerNormalization", ["h", "s", "b"], ["n"], name="norm"),
            helper.make_node("Softmax", ["n"], ["p"], name="softmax"),
            helper.make_node("Add", ["h", "bias"], ["y"], name="sum"),
        ],
        {"x": (F, ["N", 24])},
        {"p": (F, ["N", 100]), "y": (F, ["N", 100])},
        {
            "w": np.random.default_rng(1).normal(size=(24, 100)).astype(np.float32),
            "s": np.ones(100, np.float32),
            "b": np.zeros(100, np.float32),
            "bias": np.random.default_rng(2).normal(size=100).astype(np.float32),
        },
    )
    rng = np.random.default_rng(3)
    samples = [{"x": rng.normal(size=(4, 24)).astype(np.float32)} for _ in range(3)]
    mutants = [
        "softmax-zeros@softmax", "norm-to-zeros@norm", "shifted-output@sum", "shifted-output@softmax",
        "scaled-output@sum", "scaled-output@softmax", "missing-output@sum", "missing-output@softmax",
        "one-element=1e6@sum", "one-element@sum", "exchange-outputs@softmax", "tf32-inputs@product",
        "drop-last-term@product",
    ]  # fmt: skip
    all_caught(path, record(path, samples), mutants)


def test_lengths_computed_in_bfloat16(tmp_path: Path) -> None:
    """floor((n - 1) / 2) + 1 three times: 12,001 frames give 1,501 and in bfloat16 1,504 (TensorRT issue 4822)."""
    nodes, last = [], "n"
    for step in range(3):
        nodes += [
            helper.make_node("Sub", [last, "one"], [f"a{step}"], name=f"sub{step}"),
            helper.make_node("Div", [f"a{step}", "two"], [f"b{step}"], name=f"div{step}"),
            helper.make_node("Add", [f"b{step}", "one"], [f"c{step}"], name=f"add{step}"),
        ]
        last = f"c{step}"
    path = save(
        tmp_path / "lengths.onnx", nodes, {"n": (I64, ["N"])}, {last: (I64, ["N"])},
        {"one": np.array(1, np.int64), "two": np.array(2, np.int64)},
    )  # fmt: skip
    short = [{"n": np.array([120, 133], np.int64)}]
    long = [{"n": np.array([11999, 12000, 12001, 20000, 24000], np.int64)}]
    assert outcomes(path, record(path, short), ["bf16-lengths@add2"])["bf16-lengths@add2"] is not Outcome.MISMATCH
    for folder in (tmp_path / "lengths.golden", tmp_path / "h"):
        for file in sorted(folder.rglob("*"), reverse=True):
            file.unlink() if file.is_file() else file.rmdir()
    all_caught(path, record(path, long), ["bf16-lengths@add2", "bf16-lengths@add0", "bf16-lengths@sub0"])


@pytest.fixture
def weak(tmp_path: Path) -> Path:
    """A model whose golden inputs are tame: no activation is above 6, and every number is exact in tf32."""
    rng = np.random.default_rng(5)
    path = save(
        tmp_path / "weak.onnx",
        [
            helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="gemm"),
            helper.make_node("Relu", ["h"], ["y"], name="relu"),
        ],
        {"x": (F, ["N", 6])},
        {"y": (F, ["N", 5])},
        {"w": rng.normal(size=(6, 5)).astype(np.float32), "b": rng.normal(size=5).astype(np.float32)},
    )
    record(path, [{"x": rng.integers(0, 2, (1, 6)).astype(np.float32)} for _ in range(8)])
    return path


def test_survivors_are_explained_and_found_inputs_kill_them(weak: Path) -> None:
    here = weak.parent
    first = run_assay(
        "mutate", "weak.onnx", "--sites", "1", "--golden", "weak.golden", "--add-inputs", "tamed before", cwd=here
    )
    assert first.returncode == 0, first.stdout + first.stderr
    for mutant in ("tf32-inputs@gemm", "relu6-for-relu@relu", "stale-batch@gemm"):
        assert re.search(rf"{mutant}: .*(never reach|effect).* kills it", first.stdout), first.stdout
    rate = float(re.findall(r"kill rate: ([\d.]+) %", first.stdout)[0])
    assert rate < 100
    golden = read_golden(here / "weak.golden")
    assert len(golden.inputs) > 8
    assert golden.lock.why == "tamed before"
    policy = '[[goal]]\nfigure = "mutation.kill_rate"\nmin = 0.999\n'
    (here / "policy.toml").write_text(policy)
    second = run_assay(
        "mutate",
        "weak.onnx",
        "--sites",
        "1",
        "--golden",
        "weak.golden",
        "--policy",
        "policy.toml",
        "--report",
        "html=o.html",
        cwd=here,
    )
    assert second.returncode == 0, second.stdout + second.stderr
    assert "kill rate: 100.0 %" in second.stdout
    assert "drop-bias@gemm" in (here / "o.html").read_text()
    shown = run_assay("runs", cwd=here)
    assert shown.stdout.count("assay mutate weak.onnx") == 2, shown.stdout


def test_a_kill_rate_below_the_policy_fails_and_says_so(weak: Path) -> None:
    here = weak.parent
    (here / "policy.toml").write_text('[[goal]]\nfigure = "mutation.kill_rate"\nmin = 1.0\n')
    found = run_assay(
        "mutate", "weak.onnx", "--sites", "1", "--golden", "weak.golden", "--policy", "policy.toml", cwd=here
    )
    assert found.returncode == 1, found.stdout + found.stderr
    assert "mutation.kill_rate" in found.stdout
    # The same policy asks nothing of an ordinary check.
    checked = run_assay(
        "check", "weak.onnx", "--golden", "weak.golden", "--task", "verify", "--policy", "policy.toml", cwd=here
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_model_without_mutants_an_unsound_flow_and_wrong_usage(tmp_path: Path, weak: Path) -> None:
    save(tmp_path / "same.onnx", [helper.make_node("Identity", ["x"], ["y"])], {"x": (I64, [2])}, {"y": (I64, [2])})
    nothing = run_assay("mutate", "same.onnx", cwd=tmp_path)
    assert nothing.returncode == 5, nothing.stdout + nothing.stderr
    unsound = run_assay(
        "mutate", "weak.onnx", "--sites", "1", "--golden", "weak.golden", "--flow", "faulty-lie", cwd=tmp_path
    )
    assert unsound.returncode == 1
    assert "fails without any mutant" in unsound.stdout
    wrong = run_assay("mutate", "weak.onnx", "--add-inputs", "why", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "--golden" in wrong.stderr


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder of two models with telling inputs: every mutant that is not equivalent shows on them."""
    rng = np.random.default_rng(7)
    weights = {"w": rng.normal(size=(6, 5)).astype(np.float32), "b": rng.normal(size=5).astype(np.float32)}
    heads = {
        "gemm": [helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="gemm")],
        "relu": [
            helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="gemm"),
            helper.make_node("Relu", ["h"], ["y"], name="relu"),
        ],
    }
    for name, nodes in heads.items():
        (tmp_path / "zoo" / name).mkdir(parents=True)
        path = save(tmp_path / "zoo" / name / "model.onnx", nodes, {"x": (F, ["N", 6])}, {"y": (F, ["N", 5])}, weights)
        golden = record(path, [{"x": (5 * rng.normal(size=(6, 6))).astype(np.float32)} for _ in range(4)])
        golden.rename(path.parent / "golden")
    return tmp_path


LIMITS = """
mutation.kill-rate = { min = 0.95 }
[[goal]]
figure = "mutation.drop-bias.kill_rate"
flow = "openvino-f32"
min = 1.0
[[goal]]
figure = "mutation.at.Relu.kill_rate"
min = 1.0
"""


def test_a_suite_over_two_flows_is_held_to_a_kill_rate_by_operator(suite: Path) -> None:
    (suite / "policy.toml").write_text(LIMITS)
    asked = ["mutate", "./zoo", "--sites", "1", "--policy", "policy.toml"]
    asked += ["--flow", "onnxruntime", "--flow", "openvino-f32"]
    reports = ["json=o.json", "csv=o.csv", "html=o.html", "markdown=o.md", "terminal=o.txt"]
    found = run_assay(*asked, *(word for one in reports for word in ("--report", one)), cwd=suite)
    assert found.returncode == 0, found.stdout + found.stderr
    for flow in ("onnxruntime", "openvino-f32"):
        assert f"kill rate on {flow}: 100.0 % of" in found.stdout, found.stdout
    rows = json.loads((suite / "o.json").read_text())["kill_rates"]
    told = {(one["flow"], one["group"], one["name"]): one for one in rows}
    for flow in ("onnxruntime", "openvino-f32"):
        bias = told[flow, "mutation operator", "drop-bias"]
        # One in each model.
        assert (bias["killed"], bias["survived"], bias["rate"]) == (2, 0, 1.0)
        assert 0.0 < bias["low"] < bias["high"] == 1.0
        relu, gemm = (told[flow, "operator of the model", name] for name in ("Relu", "Gemm"))
        whole = told[flow, "", ""]
        assert relu["killed"] + gemm["killed"] == whole["killed"] == whole["killed"] + whole["survived"]
        assert relu["equivalent"] + gemm["equivalent"] == whole["equivalent"]
    assert "mutation operator drop-bias,2,0,1.0," in (suite / "o.csv").read_text()
    assert "Kill rate: mutation operator" in (suite / "o.html").read_text()
    assert "mutation operators: every mutant killed on every flow" in (suite / "o.txt").read_text()
    assert "operators of the model: every mutant killed on every flow" in (suite / "o.md").read_text()


def test_a_blind_gate_fails_the_kill_rate_of_a_suite(suite: Path) -> None:
    """The same suite, flow and policy: only the tolerance is another."""
    (suite / "policy.toml").write_text(LIMITS)
    asked = ["mutate", "./zoo", "--sites", "1", "--policy", "policy.toml", "--flow", "openvino-f32"]
    found = run_assay(*asked, "--rtol", "0.3", "--atol", "3", "--report", "json=o.json", cwd=suite)
    assert found.returncode == 1, found.stdout + found.stderr
    for figure in ("mutation.kill_rate is 0.", "mutation.drop-bias.kill_rate is 0,"):
        assert figure in found.stdout, found.stdout
    rows = json.loads((suite / "o.json").read_text())["kill_rates"]
    bias = next(one for one in rows if one["name"] == "drop-bias")
    assert (bias["killed"], bias["survived"], bias["rate"]) == (0, 2, 0.0)


def test_cases_that_fail_anyway_are_told_and_not_mutated(suite: Path) -> None:
    """One that fails is left out and told; where all fail nothing is mutated; one mutant can be repeated alone."""
    lock = suite / "zoo" / "relu" / "golden"
    kept = read_golden(lock)
    wrong = [{"y": one["y"] + 1} for one in kept.outputs]
    write_golden(
        suite / "wrong", model=open_model(suite / "zoo" / "relu" / "model.onnx"), inputs=kept.inputs, outputs=wrong, seed=0,
        producer="reference", producer_version="", who="tests", why="a test", created_at="2026-11-21T00:00:00+00:00",
    )  # fmt: skip
    for file in sorted(lock.iterdir()):
        file.unlink()
    for file in sorted((suite / "wrong").iterdir()):
        file.rename(lock / file.name)
    found = run_assay("mutate", "./zoo", "--sites", "1", "--limit", "5", cwd=suite)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "cases not mutated: 1" in found.stdout
    assert "zoo/relu: fails without any mutant: " in found.stdout
    nothing = run_assay("mutate", "./zoo", "--filter", "relu", cwd=suite)
    assert nothing.returncode == 1
    assert "no mutant was run" in nothing.stdout
    one = run_assay("mutate", "./zoo", "--only", "zoo/gemm|onnxruntime+drop-bias@gemm|verify", cwd=suite)
    assert one.returncode == 0, one.stdout + one.stderr
    assert "100.0 % of 1 mutants" in one.stdout
    for words, said in (
        (["./zoo", "zoo/gemm/model.onnx"], "is mutated alone"),
        (["./zoo", "--golden", "zoo/gemm/golden"], "belong to one model"),
        (["./zoo", "--config", "assay.toml"], "--config lists models"),
        (["zoo/gemm/model.onnx", "--filter", "gemm"], "choose cases of suites"),
    ):
        refused = run_assay("mutate", *words, cwd=suite)
        assert refused.returncode == 2, refused.stdout
        assert said in refused.stderr


def test_a_normalization_that_collapses_in_half_precision_is_seen(tmp_path: Path) -> None:
    """One channel at 600: its square overflows float16, the variance is infinite, and every row is zero, finite all the way."""
    names = ("m", "d", "q", "v", "e", "s", "y")
    kinds = ("ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div")
    reads = (("x", "axis"), ("x", "m"), ("d", "two"), ("q", "axis"), ("v", "eps"), ("e",), ("d", "s"))
    path = save(
        tmp_path / "norm.onnx",
        [helper.make_node(kind, one, [name]) for name, kind, one in zip(names, kinds, reads, strict=True)],
        {"x": (F, [16, 768])},
        {"y": (F, [16, 768])},
        {"axis": np.array([-1]), "two": np.array(2, np.float32), "eps": np.array(1e-5, np.float32)},
    )
    x = np.random.default_rng(0).normal(size=(16, 768)).astype(np.float32)
    x[:, 7] = 600
    golden = record(path, [{"x": x}])
    flows = ["reference+fp16", "reference"]
    checked = assay.check(path, flows=flows, golden=golden, measure=False, history=tmp_path / "h")
    found = {one.flow: one for one in checked.results}
    assert found["reference"].outcome is Outcome.OK
    assert found["reference+fp16"].outcome is Outcome.MISMATCH
    assert "degenerate" in [one.kind for one in found["reference+fp16"].comparisons[0].findings]
