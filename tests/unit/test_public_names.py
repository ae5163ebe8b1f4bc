"""The public names are what is listed, and importing the package brings no library along."""

from __future__ import annotations

import subprocess
import sys

import pytest

import assay


def test_every_public_name_is_there() -> None:
    assert assay.__all__ == ["Checked", "check", "parametrize_flows"]
    assert all(getattr(assay, name) for name in assay.__all__)
    with pytest.raises(AttributeError, match="nothing_of_that_kind"):
        _ = assay.nothing_of_that_kind


@pytest.mark.parametrize(
    "module", ["assay.commands.check", "assay.cli.main", "assay.pipeline.check", "assay.launch.pool"]
)
def test_the_driver_imports_no_backend(module: str) -> None:
    heavy = ("onnxruntime", "openvino", "torch", "assay.worker")
    line = f"import {module}, sys; print([name for name in {heavy} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
