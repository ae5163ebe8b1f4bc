"""Wrong words on the command line and in assay.toml: one clear sentence, exit 2, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import check_refused, run_assay


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--flow", "onnxruntim"], "onnxruntime"),
        (["--golden", "nowhere"], "nowhere"),
        (["--golden", "golden", "--samples", "3"], "--samples cannot go with --golden golden"),
        (["--golden", "golden", "--batch", "2", "--fill", "exact"], "--batch and --fill cannot go with --golden"),
        (["--report", "html=no/such/folder/o.html"], "cannot be written"),
        (["--report", "htm=o.html"], "html"),
        (["--report", "html"], "NAME=FILE"),
        (["--option", "optimisation=all"], "optimization"),
        (["--option", "threads"], "NAME=VALUE"),
        (["--option", "optimization=fast"], "one of"),
        (["--only-kind", "verfy"], "verify"),
        (["--memory", "much"], "4GB"),
        (["--compare-run", "nothing"], "no run"),
        (
            ["--baseline", "last-week"],
            "--baseline takes no value, and there is no model last-week here; --compare-run RUN",
        ),
        (["--policy", "nowhere.toml"], "nowhere.toml"),
        (["--seed", "9" * 23], "64 bits"),
        (["--samples", "9" * 23], "64 bits"),
        (["--samples", "9" * 15], "more than the memory of this machine"),
        (["--batch", "9" * 15], "more than the memory of this machine"),
        (["--memory", "9" * 400 + "GB"], "is no amount of memory"),
        (["--threads", "9" * 23], "64 bits"),
        (["--measure-batch", "9" * 23], "64 bits"),
        (["--timeout", "inf"], "finite"),
        (["--measure-seconds", "inf"], "finite"),
        (["--task-metric", "poetry", "--only-kind", "verify"], "poetry"),
        (["--require", "foo.max_abs <= 1"], "no output is called 'foo' (there is y)"),
    ],
)
def test_a_wrong_word_is_answered_before_anything_runs(arguments: list[str], words: str, linear: Path) -> None:
    check_refused(run_assay("check", "linear.onnx", *arguments, cwd=linear.parent), words)


def test_an_option_of_one_flow_stops_no_other(linear: Path) -> None:
    both = ("--flow", "onnxruntime", "--flow", "reference", "--option", "optimization=basic", "--only-kind", "verify")
    answer = run_assay("check", "linear.onnx", *both, cwd=linear.parent)
    assert answer.returncode == 1, answer.stderr
    assert 'Flow "reference": backend "reference" has no option "optimization"' in answer.stdout
    assert "1 fail, 1 pass; 2 of 2 jobs recorded" in answer.stdout


def test_an_unknown_policy_key_names_the_nearest(linear: Path) -> None:
    (linear.parent / "p.toml").write_text("[policy]\nbudget-mx = 1.0\n")
    check_refused(run_assay("check", "linear.onnx", "--policy", "p.toml", cwd=linear.parent), "budget-max")


def test_a_mistyped_backend_is_not_skipped_in_silence(linear: Path) -> None:
    (linear.parent / "assay.toml").write_text(
        '[[model]]\npath = "linear.onnx"\n[flows]\nuse = ["mine", "reference"]\n[flow.mine]\nbackend = "openvno"\n'
    )
    check_refused(run_assay("check", cwd=linear.parent), "there is no backend 'openvno'; perhaps you mean 'openvino'")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rtol", "1e-9"], "--rtol cannot go with the models of assay.toml"),
        (["--atol", "0"], "--atol cannot go with"),
        (["--golden", "golden"], "--golden cannot go with"),
        (["--seed", "7", "--samples", "9", "--batch", "2"], "--seed and --samples and --batch cannot go with"),
        (["--fill", "exact", "--task-metric", "classification"], "--fill and --task-metric cannot go with"),
    ],
)
def test_what_each_model_of_the_file_says_is_not_overruled_in_silence(
    arguments: list[str], words: str, linear: Path, golden: Path
) -> None:
    """A tolerance that was tightened on the command line, and was not, would be a pass that nobody meant."""
    assert golden.is_dir()
    (linear.parent / "assay.toml").write_text('[[model]]\npath = "linear.onnx"\n[flows]\nuse = ["reference"]\n')
    check_refused(run_assay("check", *arguments, cwd=linear.parent), words)
