"""What states inputs is the same wherever inputs are chosen."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli import check, golden, mutate
from assay.commands.mutate import run_mutate
from assay.errors import UsageError
from assay.options.mutate import MutateOptions
from assay.options.sizes import Sizes


@pytest.mark.parametrize("command", [check.check, golden.record, mutate.mutate])
def test_sizes_and_values_can_be_stated(command: Callable[..., None]) -> None:
    assert {"dims", "input_ranges", "input_values"} <= set(inspect.signature(command).parameters)


def test_a_suite_brings_its_own_inputs() -> None:
    options = MutateOptions(models=(Path("onnx-node"),), dims={"height": Sizes(96, 96, 96)})
    with pytest.raises(UsageError) as caught:
        run_mutate(options)
    assert str(caught.value) == (
        "--dim, --input-range and --input-value belong to one model, and onnx-node is a suite; leave them out"
    )
