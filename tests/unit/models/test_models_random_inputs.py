"""Inputs drawn from a seed."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from assay.core.dtype import dtype_name
from assay.core.input_plan import InputPlan
from assay.core.model import Model, TensorSpec
from assay.errors import BadModel
from assay.models.input_plan.symbols import planned_shapes
from assay.models.random_inputs import random_inputs


def model(*inputs: tuple[str, str, tuple[int | str, ...]]) -> Model:
    return Model(name="net", source="net.onnx", digest="", inputs=tuple(TensorSpec(*spec) for spec in inputs))


def test_the_same_values_on_every_machine() -> None:
    """The digest was computed once: a change of numpy's streams or of ours must be a decision, not an accident."""
    drawn = random_inputs(model(("x", "float32", ("N", 4)), ("i", "int64", (3,))), seed=42, samples=2, batch=2)
    digest = hashlib.sha256(b"".join(array.tobytes() for sample in drawn for array in sample.values())).hexdigest()
    assert digest == "b6f7e47e6c942116225a170c040fac07a5aa501112c6a6e70db0afb2d088d244"


def test_an_input_or_sample_more_changes_no_other() -> None:
    single = random_inputs(model(("x", "float32", (4,))), seed=1, samples=1, batch=1)
    two = random_inputs(model(("a", "float32", (9,)), ("x", "float32", (4,))), seed=1, samples=2, batch=1)
    assert single[0]["x"].tolist() == two[0]["x"].tolist()
    assert two[0]["x"].tolist() != two[1]["x"].tolist()
    assert (
        random_inputs(model(("x", "float32", (4,))), seed=2, samples=1, batch=1)[0]["x"].tolist()
        != single[0]["x"].tolist()
    )


def test_models_that_differ_in_precision_get_the_same_values() -> None:
    wide, narrow = (
        random_inputs(model(("x", kind, (50,))), seed=1, samples=1, batch=1)[0]["x"] for kind in ("float64", "float16")
    )
    assert wide.astype(np.float16).tolist() == narrow.tolist()


@pytest.mark.parametrize(
    ("kind", "largest"), [("int64", 9), ("uint8", 9), ("int8", 9), ("int4", 7), ("uint4", 9), ("int2", 1), ("uint2", 3)]
)
def test_integers_are_small_and_fit(kind: str, largest: int) -> None:
    array = random_inputs(model(("x", kind, (2000,))), seed=1, samples=1, batch=1)[0]["x"]
    values = array.astype(np.int64)
    assert dtype_name(array.dtype) == kind
    assert (values.min(), values.max()) == (0, largest)


def test_floats_are_normal_and_bools_even() -> None:
    spec = model(("x", "float32", (20_000,)), ("b", "bool", (20_000,)), ("c", "complex64", (20_000,)))
    drawn = random_inputs(spec, seed=1, samples=1, batch=1)[0]
    assert abs(drawn["x"].mean()) < 0.05
    assert abs(drawn["x"].std() - 1) < 0.05
    assert abs(drawn["b"].mean() - 0.5) < 0.05
    assert abs(drawn["c"].imag.std() - 1) < 0.05


@pytest.mark.parametrize(
    "kind", ["float32", "bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int64", "bool", "complex128"]
)
def test_a_scalar_is_an_array(kind: str) -> None:
    array = random_inputs(model(("x", kind, ())), seed=1, samples=1, batch=1)[0]["x"]
    assert isinstance(array, np.ndarray)
    assert (array.shape, dtype_name(array.dtype)) == ((), kind)


def test_shapes() -> None:
    spec = model(
        ("ids", "int64", ("batch", "sequence")),
        ("mask", "int64", ("batch", "sequence", "?", 3)),
        ("state", "float32", (2, "batch", 8)),
    )
    assert planned_shapes(spec, InputPlan(), batch=5) == {"ids": (5, 16), "mask": (5, 16, 16, 3), "state": (2, 5, 8)}


REFUSED = {
    "sequence": ("sequence", ()),
    "optional": ("optional", ()),
    "map": ("map", ()),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_drawn_is_refused(kind: str) -> None:
    with pytest.raises(BadModel) as caught:
        random_inputs(model(("x", *REFUSED[kind])), seed=1, samples=1, batch=1)
    assert (
        str(caught.value)
        == f"net.onnx has an input 'x' of type {kind}, for which no values can be generated; give your own with "
        "--golden DATA (docs/own-data.md)"
    )


def test_an_input_of_unknown_rank_is_refused() -> None:
    with pytest.raises(
        BadModel,
        match=r"^net\.onnx does not say the rank of input 'x'; give your own with --golden DATA \(docs/own-data\.md\)$",
    ):
        random_inputs(model(("x", "float32", ("...",))), seed=1, samples=1, batch=1)
