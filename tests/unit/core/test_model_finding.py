"""What a worker says of a model can be written, however large the numbers of that model are."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.model_finding import Area, ModelFinding


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (2**63 - 1, 2**63 - 1),
        (-5, -5),
        (2**64, "18446744073709551616"),
        (-(2**64), "-18446744073709551616"),
        (2**20000, "about 2**20000"),
        (-(2**20000), "-about 2**20000"),
        ("x", "x"),
    ],
    ids=["largest", "small", "too-large", "too-small", "endless", "endless-negative", "name"],
)
def test_a_number_too_large_for_the_wire_is_text(value: int | str, kept: int | str) -> None:
    finding = ModelFinding(Area.GRAPH, "overflow", "input 'x'", ("a", value))
    assert finding.values == ("a", kept)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(finding), type=ModelFinding) == finding
