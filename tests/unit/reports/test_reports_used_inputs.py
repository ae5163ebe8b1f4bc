"""What an engine was built for, as people read it."""

from __future__ import annotations

import pytest

from assay.core.engine_info import EngineInfo
from assay.core.input_plan import InputFacts
from assay.reports.used_inputs import built_for, used_inputs


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, ""),
        ({"threads": "1"}, ""),
        ({"threads": "1", "size.height": "96", "bounds.n": "1..32"}, "built for height=96, n=1..32"),
        ({"bounds.x[2]": "16..16", "bounds.w": "8..64, 16 best"}, "built for x[2]=16, w=8..64, 16 best"),
    ],
)
def test_sizes_that_were_built_for(options: dict[str, str], text: str) -> None:
    assert built_for(EngineInfo(options=options)) == text


def test_data_of_a_user_are_not_called_a_golden() -> None:
    facts = InputFacts("image", "float32", ((1, 1, 8, 8),), least=-1.0, most=1.0, golden=True)
    assert used_inputs(facts) == "image float32 [1, 1, 8, 8] from -1 to 1 (stored)"
