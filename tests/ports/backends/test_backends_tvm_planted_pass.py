"""A wrong pass of TVM is among those that changed the module, and leaving it out is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from assay.backends.tvm.backend import TVM
from assay.core.flow import Flow
from assay.plugins import find_flow

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:tvm", "ignore::DeprecationWarning")

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def wrong_pass(monkeypatch: pytest.MonkeyPatch) -> str:
    """In place of one that tidies up: it computes the sine where a hyperbolic tangent is asked for."""
    TVM().prepare()
    import tvm
    from tvm import relax

    @relax.expr_functor.mutator
    class Sine(relax.PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            made = super().visit_call_(call)
            return relax.op.sin(made.args[0]) if made.op == tvm.ir.Op.get("relax.tanh") else made

    @tvm.transform.module_pass(opt_level=0, name="TanhToSine")
    def planted(module: Any, _context: Any) -> Any:
        mutator = Sine(module)
        for place, function in module.functions_items():
            if isinstance(function, relax.Function):
                mutator.builder_.update_func(place, mutator.visit_expr(function))
        return mutator.builder_.get()

    monkeypatch.setattr(relax.transform, "CanonicalizeBindings", lambda: planted)
    return "TanhToSine"


def test_a_planted_pass_is_listed_and_is_right_when_it_is_left_out(wrong_pass: str, tmp_path: Path) -> None:
    text = '<ir_version: 9, opset_import: ["" : 17]> g (float[3,4] x) => (float[3,4] y) { y = Tanh (x) }'
    model, flow, backend = tmp_path / "net.onnx", find_flow("tvm-llvm"), TVM()
    onnx.save(parser.parse_model(text), model)

    def error(flow: Flow) -> float:
        return float(np.abs(backend.lower(model, flow).run({"x": X})["y"] - np.tanh(X)).max())

    assert error(flow) > 0.01
    assert wrong_pass in backend.passes_run(model, flow)
    assert error(backend.without_passes(flow, [wrong_pass])) < 1e-5
