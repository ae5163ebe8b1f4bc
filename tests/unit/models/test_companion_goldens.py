"""A golden set with labels and the inputs beside it whose truth nobody knows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.model import Model
from assay.errors import BadGolden
from assay.models.companion_goldens import companion_of, lock_of_companion, with_companion
from assay.models.goldens import read_golden, write_golden


def _golden(folder: Path, samples: int, rows: int, digest: str = "a" * 64, *, labelled: bool = False) -> Path:
    write_golden(
        folder,
        model=Model("m", "m.onnx", digest),
        inputs=[{"x": np.full((rows, 2), number, np.float32)} for number in range(samples)],
        outputs=[{"y": np.full((rows, 2), -number, np.float32)} for number in range(samples)],
        labels={"label": np.arange(samples)} if labelled else None,
        seed=0,
        producer="reference",
        producer_version="1",
        who="test",
        reason="test",
        created_at="2026-01-01T00:00:00+00:00",
    )
    return folder


def test_its_samples_come_behind_those_with_labels(tmp_path: Path) -> None:
    folder = _golden(tmp_path / "digits", 3, 1, labelled=True)
    assert lock_of_companion(folder) == b""
    assert len(with_companion(folder, read_golden(folder)).inputs) == 3
    assert companion_of(folder) == tmp_path / "digits-mutants"
    _golden(companion_of(folder), 2, 5)
    both = with_companion(folder, read_golden(folder))
    assert [sample["x"].shape[0] for sample in both.inputs] == [1, 1, 1, 5, 5]
    assert [output["y"].shape[0] for output in both.outputs] == [1, 1, 1, 5, 5]
    assert both.labels["label"].shape == (3,)
    assert b"digest" in lock_of_companion(folder)


def test_a_set_without_labels_has_none(tmp_path: Path) -> None:
    folder = _golden(tmp_path / "plain", 1, 1)
    _golden(companion_of(folder), 2, 5)
    assert len(with_companion(folder, read_golden(folder)).inputs) == 1


def test_one_of_another_model_is_refused(tmp_path: Path) -> None:
    folder = _golden(tmp_path / "digits", 1, 1, labelled=True)
    _golden(companion_of(folder), 1, 1, digest="b" * 64)
    with pytest.raises(BadGolden, match="digits-mutants"):
        with_companion(folder, read_golden(folder))
