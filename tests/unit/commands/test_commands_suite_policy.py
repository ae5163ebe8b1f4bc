"""A refusal fails a run of a suite where the known ones are written down, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.suite_policy import suite_policy
from assay.errors import UsageError
from assay.options.arguments import values_from_arguments
from assay.options.run import RunOptions


def test_a_refusal_is_new_only_beside_known_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "unsupported" not in suite_policy(RunOptions(), ["onnxruntime"], ["onnx-node"]).fail_on
    (tmp_path / "expectations").mkdir()
    policy = suite_policy(RunOptions(), ["onnxruntime"], ["onnx-node"])
    assert "unsupported" in policy.fail_on
    assert "undelegated" not in policy.fail_on
    (tmp_path / "own.toml").write_text('[policy]\npass-on = ["unsupported"]\n')
    own = RunOptions(policy=tmp_path / "own.toml")
    assert "unsupported" not in suite_policy(own, ["onnxruntime"], ["onnx-node"]).fail_on


def test_the_outcomes_that_come_with_assay_are_found_by_name_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not suite_policy(RunOptions(), ["onnxruntime"], ["onnx-node"]).expectations
    policy = suite_policy(RunOptions(expectations="shipped"), ["onnxruntime"], ["onnx-node"])
    assert any(expectation.case == "onnx-node/test_training_dropout" for expectation in policy.expectations)
    assert "unsupported" in policy.fail_on
    with pytest.raises(UsageError, match="'shipped' for those that come with Assay"):
        suite_policy(RunOptions(expectations="misspelt"), ["onnxruntime"], ["onnx-node"])


def test_a_word_with_a_slash_is_a_path_and_the_word_alone_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = RunOptions(**values_from_arguments(RunOptions, {"expectations": "./shipped"}))
    with pytest.raises(UsageError, match="there is no folder shipped"):
        suite_policy(own, ["onnxruntime"], ["onnx-node"])
    (tmp_path / "shipped").mkdir()
    assert not suite_policy(own, ["onnxruntime"], ["onnx-node"]).expectations
    assert suite_policy(RunOptions(expectations="shipped"), ["onnxruntime"], ["onnx-node"]).expectations
