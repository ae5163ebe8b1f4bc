"""No built-in form fails when several draws are evaluated at once, on any whole architecture."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.models.goldens import read_golden
from assay.numerics.tolerance.derive import derive
from assay.suites.models import TABLE, Models
from installed import needs

pytestmark = needs("torch", "onnxscript")


@pytest.mark.slow
def test_no_form_falls_back_on_any_architecture() -> None:
    suite = Models()
    asked = [case for case in suite.cases(seed=7) if case.name.endswith("-static")]
    derived = set()
    for case, why in suite.make(asked, workers=1):
        assert not why, f"{case.name}: {why}"
        golden = read_golden(Path(case.inputs.golden))
        for precision in ("float32", "bfloat16"):
            assert derive(Path(case.model.source), golden.inputs[:1], precision).header.fallen == (), case.name
        derived.add(case.name)
    assert len(derived) == len(asked) == len(TABLE)
