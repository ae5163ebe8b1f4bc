"""`assay mutate` of a folder of models: kill rates by operator and flow, and what a policy makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from assay.models.goldens import read_golden, write_golden
from assay.models.onnx_file import open_model
from command_line import run_assay
from mutating import F, record, save


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
metric = "mutation.drop-bias.kill_rate"
flow = "openvino-f32"
min = 1.0
[[goal]]
metric = "mutation.at.Relu.kill_rate"
min = 1.0
"""


def test_a_suite_over_two_flows_is_held_to_a_kill_rate_by_operator(suite: Path) -> None:
    (suite / "policy.toml").write_text(LIMITS)
    asked = ["mutate", "./zoo", "--sites", "1", "--policy", "policy.toml"]
    asked += ["--flow", "onnxruntime", "--flow", "openvino-f32"]
    reports = ["json=o.json", "csv=o.csv", "html=o.html", "markdown=o.md", "terminal=o.txt"]
    process = run_assay(*asked, *(word for report in reports for word in ("--report", report)), cwd=suite)
    assert process.returncode == 0, process.stdout + process.stderr
    for flow in ("onnxruntime", "openvino-f32"):
        assert f"kill rate on {flow}: 100.0 % of" in process.stdout, process.stdout
    rows = json.loads((suite / "o.json").read_text())["kill_rates"]
    row_of = {(row["flow"], row["group"], row["name"]): row for row in rows}
    for flow in ("onnxruntime", "openvino-f32"):
        bias = row_of[flow, "mutation operator", "drop-bias"]
        # One in each model.
        assert (bias["killed"], bias["survived"], bias["rate"]) == (2, 0, 1.0)
        assert 0.0 < bias["low"] < bias["high"] == 1.0
        relu, gemm = (row_of[flow, "operator of the model", name] for name in ("Relu", "Gemm"))
        whole = row_of[flow, "", ""]
        assert relu["killed"] + gemm["killed"] == whole["killed"] == whole["killed"] + whole["survived"]
        assert relu["equivalent"] + gemm["equivalent"] == whole["equivalent"]
    assert "mutation operator drop-bias,2,0,1.0," in (suite / "o.csv").read_text()
    assert "Kill rate: mutation operator" in (suite / "o.html").read_text()
    assert "mutation operators: every mutant killed on every flow" in (suite / "o.txt").read_text()
    assert "operators of the model: every mutant killed on every flow" in (suite / "o.md").read_text()


@pytest.mark.slow
def test_a_blind_gate_fails_the_kill_rate_of_a_suite(suite: Path) -> None:
    """The same suite, flow and policy: only the tolerance is another."""
    (suite / "policy.toml").write_text(LIMITS)
    asked = ["mutate", "./zoo", "--sites", "1", "--policy", "policy.toml", "--flow", "openvino-f32"]
    process = run_assay(*asked, "--rtol", "0.3", "--atol", "3", "--report", "json=o.json", cwd=suite)
    assert process.returncode == 1, process.stdout + process.stderr
    for metric in ("mutation.kill_rate is 0.", "mutation.drop-bias.kill_rate is 0,"):
        assert metric in process.stdout, process.stdout
    rows = json.loads((suite / "o.json").read_text())["kill_rates"]
    bias = next(row for row in rows if row["name"] == "drop-bias")
    assert (bias["killed"], bias["survived"], bias["rate"]) == (0, 2, 0.0)


def test_cases_that_fail_anyway_are_told_and_not_mutated(suite: Path) -> None:
    """One that fails is left out and told; where all fail nothing is mutated; one mutant can be repeated alone."""
    lock = suite / "zoo" / "relu" / "golden"
    kept = read_golden(lock)
    wrong = [{"y": output["y"] + 1} for output in kept.outputs]
    write_golden(
        suite / "wrong", model=open_model(suite / "zoo" / "relu" / "model.onnx"), inputs=kept.inputs, outputs=wrong, seed=0,
        producer="reference", producer_version="", who="tests", reason="a test", created_at="2026-11-21T00:00:00+00:00",
    )  # fmt: skip
    for file in sorted(lock.iterdir()):
        file.unlink()
    for file in sorted((suite / "wrong").iterdir()):
        file.rename(lock / file.name)
    process = run_assay("mutate", "./zoo", "--sites", "1", "--limit", "5", cwd=suite)
    assert process.returncode == 0, process.stdout + process.stderr
    assert "cases not mutated: 1" in process.stdout
    assert "zoo/relu: fails without any mutant: " in process.stdout
    nothing = run_assay("mutate", "./zoo", "--filter", "relu", cwd=suite)
    assert nothing.returncode == 1
    assert "no mutant was run" in nothing.stdout
    single = run_assay("mutate", "./zoo", "--only", "zoo/gemm|onnxruntime+drop-bias@gemm|verify", cwd=suite)
    assert single.returncode == 0, single.stdout + single.stderr
    assert "100.0 % of 1 mutants" in single.stdout
    for words, said in (
        (["./zoo", "zoo/gemm/model.onnx"], "is mutated alone"),
        (["./zoo", "--golden", "zoo/gemm/golden"], "belong to one model"),
        (["./zoo", "--config", "assay.toml"], "--config lists models"),
        (["zoo/gemm/model.onnx", "--filter", "gemm"], "choose cases of suites"),
    ):
        refused = run_assay("mutate", *words, cwd=suite)
        assert refused.returncode == 2, refused.stdout
        assert said in refused.stderr
