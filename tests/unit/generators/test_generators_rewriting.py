"""What an engine says it executes tells which operators it compiles together; a generator draws from these."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import parser

from assay import plugins
from assay.generators.case_values import CaseValues
from assay.generators.near_misses import NearMisses
from assay.generators.open_generator import open_generator
from assay.generators.rewriting import change, rewritten_pair, wrong_kernels
from assay.ports import Engine
from assay.ports.generator import GeneratedCase

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
CONV = (
    "g (float[1,1,4,4] x) => (float[1,1,2,2] y) <float[1,1,3,3] w = {1,2,3,4,5,6,7,8,9}> { z = Conv(x, w) y = Relu(z) }"
)
APART = "g (float[4] x) => (float[4] y) <int64 i = {0}> { z = Softmax(x) y = CumSum(z, i) }"
BESIDE = "g (float[4] x) => (float[4] y, float[4] z) { z = Exp(x) y = Erf(x) }"


@pytest.mark.parametrize("flow", ["onnxruntime", "openvino-f32"])
@pytest.mark.parametrize(("graph", "due"), [(CONV, ("Conv", "Relu")), (APART, None), (BESIDE, None)])
def test_pairs_that_a_backend_compiles_together_are_seen(
    tmp_path: Path, flow: str, graph: str, due: tuple[str, str] | None
) -> None:
    found_flow = plugins.find_flow(flow)
    backend = plugins.load("assay.backends", found_flow.backend)()
    backend.prepare()
    model = parser.parse_model(f"{HEAD} {graph}")
    shape = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim]
    values = CaseValues(GeneratedCase(model.SerializeToString(), {"x": np.ones(shape, np.float32)}))
    values.evaluate()

    def compiled(case: GeneratedCase) -> Engine:
        path = tmp_path / "m.onnx"
        path.write_bytes(case.model)
        engine: Engine = backend.lower(path, found_flow)
        return engine

    whole = compiled(values.case)
    whole.run(values.case.inputs)
    assert rewritten_pair(values, whole, compiled) == due


@pytest.mark.parametrize(("graph", "due"), [(CONV, "Relu > nothing"), (APART, ""), (BESIDE, "")])
def test_what_a_compiler_changed_is_named(tmp_path: Path, graph: str, due: str) -> None:
    flow = plugins.find_flow("onnxruntime")
    backend = plugins.load("assay.backends", flow.backend)()
    backend.prepare()
    model = parser.parse_model(f"{HEAD} {graph}")
    shape = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim]
    values = CaseValues(GeneratedCase(model.SerializeToString(), {"x": np.ones(shape, np.float32)}))
    path = tmp_path / "m.onnx"
    path.write_bytes(values.case.model)
    engine: Engine = backend.lower(path, flow)
    engine.run(values.case.inputs)
    assert change(values, engine) == due


def test_near_misses_draw_from_what_was_learned_and_are_the_same_again(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    path.write_bytes(msgspec.json.encode({"Einsum": ["Tanh"]}))
    plain, beside = NearMisses(), open_generator("near-misses", learned=str(path))

    def count(generator: NearMisses) -> int:
        cases = [generator.make(3, index) for index in range(80)]
        texts = [[node.op_type for node in onnx.load_from_string(case.model).graph.node] for case in cases if case]
        return sum("Einsum" in names and "Tanh" in names for names in texts)

    assert isinstance(beside, NearMisses)
    assert count(beside) > 10 > count(plain)
    again = open_generator("near-misses", learned=str(path))
    made = [[each_generator.make(3, index) for index in range(9)] for each_generator in (beside, again)]
    assert [case and case.model for case in made[0]] == [case and case.model for case in made[1]]


@pytest.mark.parametrize(("between", "due"), [("", {"executed QLinearSoftmax": False}), ("Log", {})])
def test_what_several_nodes_become_is_named(tmp_path: Path, between: str, due: dict[str, bool]) -> None:
    """And nothing where each node is executed as it is alone."""
    flow = plugins.find_flow("onnxruntime")
    backend = plugins.load("assay.backends", flow.backend)()
    backend.prepare()
    graph = f"""g (uint8[2,3] q) => (uint8[2,3] y) <float s = {{0.1}}, uint8 z = {{128}}, float t = {{0.004}}, uint8 o = {{0}}>
      {{ d = DequantizeLinear(q, s, z) e = {between or "Identity"}(d) m = Softmax(e) y = QuantizeLinear(m, t, o) }}"""
    case = GeneratedCase(
        parser.parse_model(f"{HEAD} {graph}").SerializeToString(), {"q": np.full((2, 3), 138, np.uint8)}
    )
    values = CaseValues(case)
    values.evaluate()

    def compiled(case: GeneratedCase) -> Engine:
        path = tmp_path / "m.onnx"
        path.write_bytes(case.model)
        engine: Engine = backend.lower(path, flow)
        return engine

    assert wrong_kernels(values, compiled) == due
