"""What a flow of assay.toml may declare beside its precision."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.config.assay_toml import load_config
from assay.errors import BadPolicy

FLOW = '[flow.mine]\nbackend = "litert"\n'


def _read(tmp_path: Path, lines: str) -> tuple[str, ...]:
    path = tmp_path / "assay.toml"
    path.write_text(FLOW + lines)
    return load_config(path).flows[0].allowances


@pytest.mark.parametrize("beside", ["int8-operands", "int8-weights"])
def test_tables_in_eight_bits_stand_beside_weights_in_eight_bits(tmp_path: Path, beside: str) -> None:
    allowances = _read(tmp_path, f'precision = "int8"\nallowances = ["{beside}", "int8-tables"]\n')
    assert allowances == (beside, "int8-tables")


@pytest.mark.parametrize(
    "lines",
    [
        'precision = "int8"\nallowances = ["int8-tables"]\n',
        'precision = "float32"\nallowances = ["int8-tables", "int8-operands"]\n',
        'allowances = ["int8-tables", "int8-weights"]\n',
    ],
)
def test_tables_in_eight_bits_alone_are_refused_for_they_would_mean_nothing(tmp_path: Path, lines: str) -> None:
    with pytest.raises(BadPolicy) as refused:
        _read(tmp_path, lines)
    assert """'flow.mine.allowances' has "int8-tables", which needs precision = "int8" and one of""" in str(
        refused.value
    )


def test_a_precision_that_is_none_is_the_only_mistake_that_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadPolicy) as refused:
        _read(tmp_path, 'precision = "int9"\nallowances = ["int8-tables", "int8-weights"]\n')
    assert "int8-tables" not in str(refused.value)
