"""A node between two grids is taken off with a grid in its place: a fusion wants one on both sides."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import parser

from assay.core.screening import Screened
from assay.generators.case_values import CaseValues
from assay.generators.comparison import Far
from assay.generators.grid_parts import on_the_grid_before
from assay.generators.narrowing import Trial, localized
from assay.ports.generator import GeneratedCase

GRAPH = """<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1,1,4] q) => (uint8[1,1,3] y) <float s = {0.5}, uint8 z = {128}, float t = {0.00390625}, uint8 o = {0}>
{ d = DequantizeLinear(q, s, z) m = MaxPool<kernel_shape = [2]>(d) p = Softmax(m) y = QuantizeLinear(p, t, o) }"""
FUSED = ["DequantizeLinear", "Softmax", "QuantizeLinear"]


def _case(graph: str = GRAPH) -> GeneratedCase:
    q = np.asarray([[[120, 126, 131, 129]]], np.uint8)
    return GeneratedCase(parser.parse_model(graph).SerializeToString(), {"q": q})


def _values(case: GeneratedCase) -> CaseValues:
    values = CaseValues(case)
    values.evaluate()
    return values


def _operators(case: GeneratedCase) -> list[str]:
    return [node.op_type for node in onnx.load_from_string(case.model).graph.node]


def test_what_a_node_gives_is_put_on_the_grid_that_it_reads_from() -> None:
    parts = [*on_the_grid_before(_values(_case()), "y")]
    assert [_operators(part) for part in parts] == [FUSED]
    assert {name: array.tolist() for name, array in parts[0].inputs.items()} == {"m/grid": [[[126, 131, 131]]]}
    assert parts[0].inputs["m/grid"].dtype == np.uint8
    assert _values(parts[0]).is_valid()


def test_nothing_is_taken_off_that_reads_from_no_grid_of_one_scale() -> None:
    by_rows = GRAPH.replace("float s = {0.5}, uint8 z = {128}", "float[1] s = {0.5}, uint8[1] z = {128}")
    assert [*on_the_grid_before(_values(_case(GRAPH.replace("(d)", "(e)").replace("m =", "e = Relu(d) m ="))), "y")]
    assert [*on_the_grid_before(_values(_case(by_rows)), "y")]  # one scale all the same
    plain = GRAPH.replace("d = DequantizeLinear(q, s, z)", "d = Cast<to: int = 1>(q)")
    assert not [*on_the_grid_before(_values(_case(plain)), "y")]


def test_a_fusion_behind_a_grid_is_cut_down_to_its_own_nodes() -> None:
    """A Softmax whose operand comes from a grid, whatever stands between, and whose answer goes to one, is wrong."""

    def run(case: GeneratedCase) -> Trial:
        values = _values(case)
        makers = {name: node for node in values.model.graph.node for name in node.output}
        chain, name = list[str](), next(iter(values.outputs))
        while name in makers:
            chain.append(makers[name].op_type)
            name = makers[name].input[0]
        wrong = chain[:2] == FUSED[:0:-1] and chain[-1] == FUSED[0]
        far = Far("values", [*values.outputs][-1]) if wrong else Far()
        return Trial(case, values, Screened.SUSPECT if wrong else Screened.RIGHT, far)

    assert _operators(localized(run(_case()), run).case) == FUSED
