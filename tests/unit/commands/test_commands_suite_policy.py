"""A refusal fails a run of a suite where the known ones are written down, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.suite_policy import suite_policy
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
