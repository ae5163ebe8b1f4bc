"""The gate under test: survivors are explained, found inputs kill them, a kill rate gates, wrong usage is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, parser, save_model

from assay.models.goldens import read_golden
from command_line import run_assay
from mutating import I64, F, record, save


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
    for mutant in ("tf32-inputs@gemm", "relu6-for-relu@relu"):
        assert re.search(rf"{mutant}: .*(never reach|effect).* kills it", first.stdout), first.stdout
    assert "stale-batch@gemm" not in first.stdout, (
        "it does not survive: the samples of one row are asked for as one batch"
    )
    rate = float(re.findall(r"kill rate: ([\d.]+) %", first.stdout)[0])
    assert rate < 100
    golden = read_golden(here / "weak.golden")
    assert len(golden.inputs) > 8
    assert golden.lock.reason == "tamed before"
    assert golden.lock.coarse == ()
    policy = '[[goal]]\nmetric = "mutation.kill_rate"\nmin = 0.999\n'
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
    (here / "policy.toml").write_text('[[goal]]\nmetric = "mutation.kill_rate"\nmin = 1.0\n')
    process = run_assay(
        "mutate", "weak.onnx", "--sites", "1", "--golden", "weak.golden", "--policy", "policy.toml", cwd=here
    )
    assert process.returncode == 1, process.stdout + process.stderr
    assert "mutation.kill_rate" in process.stdout
    # The same policy asks nothing of an ordinary check.
    checked = run_assay(
        "check", "weak.onnx", "--golden", "weak.golden", "--only-kind", "verify", "--policy", "policy.toml", cwd=here
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


@pytest.mark.slow
def test_an_exported_program_is_mutated_as_the_graph_that_torch_makes_of_it(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 4)).eval()
    torch.export.save(torch.export.export(net, (torch.randn(3, 6),)), tmp_path / "net.pt2")
    process = run_assay(
        "mutate", "net.pt2", "--flow", "torch-eager", "--sites", "1", "--limit", "6", "--killed", cwd=tmp_path
    )
    assert process.returncode == 0, process.stdout + process.stderr
    killed = re.findall(r"^killed: (\d+)", process.stdout, re.MULTILINE)
    assert int(killed[0]) >= 4, process.stdout


def test_a_sequence_for_which_no_values_can_be_drawn_is_refused_in_one_sentence(tmp_path: Path) -> None:
    text = '<ir_version: 8, opset_import: ["":17]> g (seq(float[n]) x) => (int64 y) { y = SequenceLength(x) }'
    save_model(parser.parse_model(text), tmp_path / "items.onnx")
    refused = run_assay("mutate", "items.onnx", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.strip().splitlines()[-1] == (
        "assay: items.onnx has an input 'x' of type sequence, for which no values can be generated; "
        "give your own with --golden DATA (docs/own-data.md)"
    )
