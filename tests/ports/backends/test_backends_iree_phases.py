"""The phase of iree-compile that makes an answer wrong, planted by flags in front of the compiler."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from iree.compiler import _mlir_libs
from onnx import parser

from assay.backends.iree.backend import IREE
from assay.core.region import AfterPass
from assay.plugins import find_flow
from assay.triage.origin import Origin, Stage, origin_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the compiler is put behind a shell script")

NET = """<ir_version: 9, opset_import: ["" : 17]> g (float[2,2] x) => (float[2,2] y)
  <float[2,2] w = {0.37, -1.21, 0.83, 0.49}> { y = MatMul (x, w) }"""
X = np.array([[0.31, -0.77], [1.13, 0.59]], np.float32)
RIGHT = X @ np.array([[0.37, -1.21], [0.83, 0.49]], np.float32)
NARROW = "--iree-global-opt-demote-contraction-inputs-type=bf16 --iree-global-opt-demote-contraction-inputs-operations=matmul"


@pytest.mark.parametrize(
    ("unless", "flags", "stage", "name"),
    [
        # Of the three walks through all phases the one that ends between the others: each takes 7 s of a processor.
        pytest.param(
            "--iree-global-optimization-opt-level=O0",
            NARROW,
            Stage.PASS,
            "phase global-optimization",
            marks=pytest.mark.slow,
        ),
        ("--never", NARROW, Stage.FIRST, "phase executable-sources"),
        ("--iree-hal-target-backends=vmvx", NARROW, Stage.PASS, "phase executable-targets"),
    ],
)
def test_the_phase_is_the_first_that_is_wrong(
    unless: str, flags: str, stage: Stage, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = Path(_mlir_libs.__file__).parent / "iree-compile"
    tools, model = tmp_path / "tools", tmp_path / "net.onnx"
    tools.mkdir()
    (tools / "iree-compile").write_text(
        f'#!/bin/sh\ncase " $* " in\n*{unless}*) ;;\n*) set -- "$@" {flags};;\nesac\nexec {compiler} "$@"\n'
    )
    (tools / "iree-compile").chmod(0o755)
    monkeypatch.setenv("IREE_TOOL_PATH", str(tools))
    onnx.save(parser.parse_model(NET), model)
    rows = IREE().after_each_pass(model, find_flow("iree-llvm-cpu"), {"x": X}, tmp_path)
    stages = [
        AfterPass(name, None if given is None else float(np.abs(given["y"] - RIGHT).max())) for name, given in rows
    ]
    assert origin_of(stages, 5e-3) == Origin(stage, name, 7)
