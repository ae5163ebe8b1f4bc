"""A converter that runs out of memory says nothing about the model: it must not count as unsupported."""

from __future__ import annotations

import numpy as np
import pytest

from assay.models.conversion import _export_failure
from assay.transforms.onnx_files import refused
from assay.transforms.pt2e import _refused


def _errors() -> list[Exception]:
    import torch

    exceptions: list[Exception] = []
    for make in (lambda: np.empty(2**46), lambda: torch.empty(2**46), lambda: bytearray(2**60)):
        try:
            make()
        except Exception as error:
            exceptions.append(error)
            continue
        raise AssertionError("such a machine is unheard of")
    return exceptions


@pytest.mark.parametrize("told_by", [refused, _refused, _export_failure])
def test_it_is_told_as_what_it_is(told_by: object) -> None:
    for error in _errors():
        assert type(told_by("int8", error)) is MemoryError, error  # type: ignore[operator]


@pytest.mark.parametrize("told_by", [refused, _refused, _export_failure])
def test_other_failures_are_of_the_model(told_by: object) -> None:
    assert type(told_by("int8", RuntimeError("no such operator"))) is not MemoryError  # type: ignore[operator]
