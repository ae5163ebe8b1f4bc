"""Every reason of a golden stays in its lock, and `assay audit` shows them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.cli.main import main
from assay.models.goldens import read_golden, write_golden
from assay.pipeline.goldens.golden import publish
from assay.testing.builders import make_model


def _write(folder: Path, value: float, reason: str, day: int) -> None:
    sample = {"x": np.full((1, 2), value, np.float32)}
    write_golden(
        folder, model=make_model(), inputs=[sample], outputs=[sample], seed=0, producer="reference-f64",
        producer_version="1.0", who="ana", reason=reason, created_at=f"2026-11-0{day}T10:00:00+00:00",
    )  # fmt: skip


def test_all_reasons_stay_and_the_audit_lists_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "golden"
    _write(folder, 1.0, "first release", 1)
    for day, reason in ((2, "opset 17"), (3, "opset 21")):
        _write(tmp_path / reason, float(day), reason, day)
        publish(tmp_path / reason, folder)
    assert read_golden(folder).outputs[0]["x"][0, 0] == 3.0
    assert [entry.reason for entry in read_golden(folder).lock.earlier] == ["first release", "opset 17"]
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["audit", str(folder)])
    printed = capsys.readouterr().out.splitlines()
    assert printed[::2] == [
        "2026-11-01T10:00  golden    by ana: first release",
        "2026-11-02T10:00  golden    by ana: opset 17",
        "2026-11-03T10:00  golden    by ana: opset 21",
    ]
    assert printed[1].startswith("    reference-f64 1.0, of model ")
