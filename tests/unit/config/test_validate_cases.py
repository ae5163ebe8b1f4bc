"""Sizes and values that a user states: what is understood, and what is said of what is not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.config.option_values import check_stated
from assay.config.validate_cases import check_dims
from assay.core.case import Case, Inputs
from assay.core.input_plan import InputRange, RangeSource
from assay.core.model import Model, TensorSpec
from assay.errors import UsageError
from assay.options.input_values import read_range, read_values, stated
from assay.options.sizes import read_sizes, sizes_of


@pytest.mark.parametrize(
    ("text", "triple", "listed"),
    [
        ("96", (96, 96, 96), (96,)),
        ("64,96,160", (64, 64, 160), (64, 96, 160)),
        ("96, 64, 160", (64, 96, 160), (96, 64, 160)),
        ("64:128:160", (64, 128, 160), ()),
        ("1:4:4", (1, 4, 4), ()),
        ("64:160:32", (64, 64, 160), (64, 96, 128, 160)),
        ("64:170:32", (64, 64, 160), (64, 96, 128, 160)),
    ],
)
def test_sizes_as_people_write_them(text: str, triple: tuple[int, ...], listed: tuple[int, ...]) -> None:
    assert read_sizes("h", text) == (*triple, listed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1:16:4", "dimension 'h' is '1:16:4': that is a step of 4 from 1 to 16, or sizes out of order; write 1:4:16"
         " for MIN:OPT:MAX, or list the sizes (1,5,9,13)"),
        ("4:1:2", "dimension 'h' is '4:1:2', which is neither MIN:OPT:MAX nor MIN:MAX:STEP: write one size (96), a list"
         " (64,96,160), MIN:OPT:MAX (64:96:160) or MIN:MAX:STEP (64:160:32)"),
        ("4:8", "dimension 'h' is '4:8': write one size (96), a list (64,96,160), MIN:OPT:MAX (64:96:160) or MIN:MAX:STEP (64:160:32)"),
        ("0,3", "dimension 'h' is '0,3': a size is 1 or more; write one size (96), a list (64,96,160), MIN:OPT:MAX"
         " (64:96:160) or MIN:MAX:STEP (64:160:32)"),
        ("100:500:2", "dimension 'h' is '100:500:2': these are 201 sizes, and 64 are the most; take a larger step"),
    ],
)  # fmt: skip
def test_what_is_ambiguous_or_wrong_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_sizes("h", text)
    assert str(caught.value) == message


CASE = Case("net", Model("net", "net.onnx", "", (TensorSpec("x", "float32", ("N", "?")), TensorSpec("n", "int64", ()))))


def test_a_dimension_without_a_name_is_called_by_input_and_axis() -> None:
    assert sizes_of("x[1]", "64,96") == (64, 64, 96, (64, 96))
    assert sizes_of("N", [1, 2, 4]) == (1, 2, 4, ())
    check_dims(replace(CASE, inputs=Inputs(dims={"x[1]": (64, 64, 96), "N": (1, 2, 4)})))
    with pytest.raises(UsageError, match="has no symbolic dimension 'x\\[2\\]'; perhaps you mean 'x\\[1\\]'"):
        check_dims(replace(CASE, inputs=Inputs(dims={"x[2]": (1, 1, 1)})))


def test_ranges_and_values_of_inputs() -> None:
    ranges_stated = stated({"x": read_range("x", "0:1")}, {"n": read_values("n", "8000,16000")})
    assert ranges_stated == {
        "x": InputRange(0, 1, source=RangeSource.STATED),
        "n": InputRange(8000, 16000, choices=(8000, 16000), source=RangeSource.STATED),
    }
    check_stated(replace(CASE, inputs=Inputs(ranges=ranges_stated)))


@pytest.mark.parametrize(
    ("ranges", "values", "message"),
    [
        ([("x", "1")], [], "the range of input 'x' is '1': write LOW:HIGH, for example 0:1"),
        ([("x", "2:1")], [], "the range of input 'x' is '2:1': its lower end is above its upper one"),
        ([], [("n", "fast")], "the value of input 'n' is 'fast': write a number, or several as in 8000,16000"),
        ([("x", "0:1")], [("x", "1")], "input 'x' has a range and a value; leave out one of the two"),
        ([("y", "0:1")], [], "model 'net' has no input 'y'; it has x, n"),
        ([], [("n", "0.5")], "input 'n' of model 'net' is int64: state whole numbers"),
    ],
)
def test_a_statement_that_cannot_be_followed(
    ranges: list[tuple[str, str]], values: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_stated(replace(CASE, inputs=Inputs(ranges=_stated(ranges, values))))
    assert str(caught.value) == message


def _stated(ranges: list[tuple[str, str]], values: list[tuple[str, str]]) -> dict[str, InputRange]:
    return stated(
        {name: read_range(name, text) for name, text in ranges},
        {name: read_values(name, text) for name, text in values},
    )
