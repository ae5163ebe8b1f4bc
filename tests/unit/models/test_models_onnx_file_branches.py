"""What the checker is asked of a file whose outputs declare no rank."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import parser

from assay.errors import UsageError
from assay.models.onnx_file import open_model

BRANCHES = """<ir_version: 9, opset_import: ["" : 17]>
g (float[N] x, bool flag) => (float[a] y) {
    z = Neg(x)
    y = If(flag) <then_branch = t () => (float[n] o) { o = Abs(NAME) }, else_branch = e () => (float[n] o) { o = Identity(x) }>
}"""


def _saved(folder: Path, name: str) -> Path:
    model = parser.parse_model(BRANCHES.replace("NAME", name))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(model, folder / "branches.onnx")
    return folder / "branches.onnx"


@pytest.mark.parametrize("name", ["x", "z"])
def test_a_branch_may_read_what_was_computed_before_it(tmp_path: Path, name: str) -> None:
    open_model(_saved(tmp_path, name))


def test_a_branch_that_reads_what_nothing_gives_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nobody defines: 'nothing'"):
        open_model(_saved(tmp_path, "nothing"))
