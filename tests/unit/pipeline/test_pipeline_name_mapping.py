"""Which tensor of a rewritten model is which of its original, and what is said where nobody can know."""

from __future__ import annotations

import pytest

from assay.core.model import Model, TensorSpec
from assay.core.note import NoteCode, noted
from assay.errors import UsageError
from assay.pipeline.name_mapping import map_names


def _model(source: str, inputs: list[TensorSpec], outputs: list[TensorSpec]) -> Model:
    return Model(source, f"{source}.onnx", source, tuple(inputs), tuple(outputs))


IDS = TensorSpec("ids", "int64", ("batch", "length"))
MASK = TensorSpec("mask", "bool", ("batch", "length"))
PROBS = TensorSpec("probs", "float32", ("batch", 10))
OLD = _model("old", [IDS, MASK], [PROBS])


def test_the_same_names_are_the_same_tensors_in_any_order_and_other_integers_are_converted() -> None:
    new = _model("new", [MASK, TensorSpec("ids", "int32", (1, "n"))], [TensorSpec("extra", "float32", (1,)), PROBS])
    names = map_names(new, OLD, {}, {})
    assert names.inputs == {"mask": "mask", "ids": "ids"}
    assert names.outputs == {"probs": "probs"}
    assert names.without == ()
    assert names.notes == (
        noted(NoteCode.INPUT_CONVERTED, input="ids", given="int64", taken="int32"),
        noted(NoteCode.OUTPUT_NOT_COMPARED, output="extra"),
    )


def test_an_input_that_the_new_model_does_not_have_is_not_fed_and_a_lost_output_is_kept_in_mind() -> None:
    old = _model("old", [IDS, MASK], [PROBS, TensorSpec("hidden", "float32", (1, 4))])
    names = map_names(_model("new", [IDS], [PROBS]), old, {}, {})
    assert names.without == ("hidden",)
    assert names.notes == (noted(NoteCode.INPUT_NOT_FED, input="mask"),)


def test_options_map_what_was_renamed() -> None:
    new = _model("new", [TensorSpec("a", "int64", (1, 8)), MASK], [TensorSpec("b", "float16", (1, 10))])
    names = map_names(new, OLD, {"a": "ids"}, {"b": "probs"})
    assert names.inputs == {"a": "ids", "mask": "mask"}
    assert names.outputs == {"b": "probs"}


RENAMED = _model("new", [TensorSpec("a", "int64", (1, 8)), MASK], [TensorSpec("b", "float32", (1, 10))])


@pytest.mark.parametrize(
    ("new", "inputs", "outputs", "said"),
    [
        (
            RENAMED,
            {},
            {},
            "input 'a' of new.onnx is not one of those of the reference (ids, mask); types and shapes would fit in this order: "
            "--map-input a=ids",
        ),
        (
            RENAMED,
            {"a": "ids"},
            {},
            "output 'probs' of the reference is not one of those of new.onnx (b); types and shapes would fit in this order: "
            "--map-output b=probs",
        ),
        (RENAMED, {"a": "id"}, {}, "--map-input: the reference has no input 'id'; perhaps you mean 'ids'"),
        (RENAMED, {"z": "ids"}, {}, "--map-input: the new model has no input 'z'; it has a, mask"),
        (
            RENAMED,
            {"a": "ids", "mask": "ids"},
            {},
            "--map-input gives the input 'ids' of the reference twice: map each one once",
        ),
        (
            _model("new", [TensorSpec("ids", "float32", (1, 8)), MASK], [PROBS]),
            {},
            {},
            "input 'ids' takes float32, and 'ids' of the reference takes int64: such values are not converted; map another input to "
            "it with --map-input, or feed both models alike",
        ),
        (
            _model("new", [TensorSpec("ids", "int64", (1, 8, 1)), MASK], [PROBS]),
            {},
            {},
            "input 'ids' has shape [1, 8, 1], and 'ids' of the reference has [batch, length]: no input fits both; map another input "
            "to it with --map-input",
        ),
        (
            _model("new", [IDS, MASK, TensorSpec("scale", "float32", ())], [PROBS]),
            {},
            {},
            "input 'scale' of new.onnx is not one of those of the reference (ids, mask); nothing left of the reference has such a "
            "type and shape; if it is one of its inputs, give --map-input NEW=OLD",
        ),
    ],
)
def test_what_cannot_be_mapped_is_refused_with_the_option_that_would_fit(
    new: Model, inputs: dict[str, str], outputs: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        map_names(new, OLD, inputs, outputs)
    assert str(refused.value) == said
