"""What MNN's refusals become."""

from __future__ import annotations

import os

import pytest

from assay.backends.mnn.errors import SHAPES, run_failure, unsized_tensor
from assay.backends.native_output import printed_by
from assay.errors import Unsupported


def test_the_tensor_without_a_shape_is_read() -> None:
    assert unsized_tensor("MNN use high precision\nCompute Shape Error for /a/If_0\nCan't run session\n") == "/a/If_0"
    assert unsized_tensor("Can't run session because not resized") == ""


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "If",
            "MNN's session computes no shape for If 'y'; MNN's other interface has control flow: --option api=module.",
        ),
        ("Reshape", "MNN's session computes no shape for Reshape 'y'."),
        ("", "MNN's session computes no shape for node 'y'."),
    ],
)
def test_a_shape_that_cannot_be_computed_is_not_supported(kind: str, text: str) -> None:
    failure = run_failure(SHAPES, "y", kind)
    assert isinstance(failure, Unsupported)
    assert (str(failure), failure.node) == (text, "y")


def test_any_other_code_stays_an_error() -> None:
    assert not isinstance(run_failure(2), Unsupported)


def test_what_is_printed_natively_is_read_and_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        os.write(1, b"to one\n")
        os.write(2, b"to two\n")

    assert printed_by(work) == "to one\nto two\n"
    assert capfd.readouterr().err == "to one\nto two\n"
