"""What a worker says of a model can be written, however large the numbers of that model are."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.model_finding import Area, ModelFinding
from assay.core.model_part import ModelPart, PartKind, part_text


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
    finding = ModelFinding(Area.GRAPH, "overflow", ModelPart(PartKind.INPUT, "x"), ("a", value))
    assert finding.values == ("a", kept)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(finding), type=ModelFinding) == finding


IF = ModelPart(PartKind.NODE, number=3, operator="If")
THEN = ModelPart(PartKind.GRAPH, "then_branch", inside=IF)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (ModelPart(), "the model"),
        (ModelPart(PartKind.FILE, "m.onnx"), "m.onnx"),
        (ModelPart(PartKind.GRAPH), "the graph"),
        (ModelPart(PartKind.NODE, "a", operator="Relu"), "node 'a' (Relu)"),
        (ModelPart(PartKind.NODE, operator="Relu"), "a node (Relu)"),
        (ModelPart(PartKind.NODE, "a\n", operator="R\n"), r"node 'a\n' (R\n)"),
        (ModelPart(PartKind.OUTPUT, ""), "output ''"),
        (
            ModelPart(PartKind.ATTRIBUTE, "axis", inside=ModelPart(PartKind.NODE, "a", -1, "Concat", THEN)),
            "attribute 'axis' of node 'a' (Concat) in 'then_branch' of node number 3 (If)",
        ),
        (
            ModelPart(PartKind.SPARSE_VALUES, inside=ModelPart(PartKind.SPARSE_INITIALIZER, "w", inside=THEN)),
            "the values of sparse initializer 'w' in 'then_branch' of node number 3 (If)",
        ),
        (
            ModelPart(PartKind.INITIALIZER, "w", inside=ModelPart(PartKind.ALGORITHM, number=1)),
            "initializer 'w' in the algorithm of training_info 1",
        ),
        (ModelPart(PartKind.INPUT, "x" * 100), f"input '{'x' * 80}...'"),
    ],
)
def test_a_part_has_its_words(part: ModelPart, text: str) -> None:
    assert part_text(part) == text
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(part), type=ModelPart) == part
