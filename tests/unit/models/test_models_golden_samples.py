"""Packing samples for a file and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BadGolden
from assay.models.golden_samples import model_name, pack, stored_name, unpack

shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
samples = st.lists(st.tuples(shapes, st.sampled_from(["float32", "int8", "bool"])), min_size=1, max_size=4)


@given(samples)
def test_unpack_inverts_pack(kinds: list[tuple[tuple[int, ...], str]]) -> None:
    given_samples = [{"x": np.full(shape, i + 1).astype(kind)} for i, (shape, kind) in enumerate(kinds)]
    packed = pack(given_samples, "input")
    assert (set(packed) == {"x"}) == (len(set(kinds)) == 1)
    for read, sample in zip(unpack(packed, len(kinds), "input"), given_samples, strict=True):
        assert isinstance(read["x"], np.ndarray)
        assert (read["x"].dtype, read["x"].shape) == (sample["x"].dtype, sample["x"].shape)
        assert read["x"].tolist() == sample["x"].tolist()


@pytest.mark.parametrize("name", ["x", "a@b", "x@1", "layer/x:0", "x@0001"])
def test_names_are_told_from_names_of_samples(name: str) -> None:
    assert model_name(name) == (name, None)
    assert model_name(stored_name(name, 12)) == (name, 12)


@pytest.mark.parametrize(
    ("tensors", "sentence"),
    [
        ({"x": np.zeros(3)}, "input 'x' has shape [3] for 2 samples; record the golden again"),
        ({"x": np.zeros(())}, "input 'x' has shape [] for 2 samples; record the golden again"),
        ({"x@00000": np.zeros(1)}, "input 'x' is missing in sample 1; record the golden again"),
        ({"x@00001": np.zeros(1)}, "input 'x' is missing in sample 0; record the golden again"),
        ({"x@00002": np.zeros(1)}, "input 'x@00002' belongs to none of 2 samples; record the golden again"),
    ],
)
def test_tensors_that_fit_no_samples(tensors: dict[str, np.ndarray], sentence: str) -> None:
    with pytest.raises(BadGolden) as caught:
        unpack(tensors, 2, "input")
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["x", "x@00000"])
def test_a_claimed_number_of_samples_makes_nothing(name: str) -> None:
    """golden.lock may say any number: it is refused at once, and no list of that length is made."""
    with pytest.raises(BadGolden, match="sample"):
        unpack({name: np.zeros(1)}, 10**23, "input")
