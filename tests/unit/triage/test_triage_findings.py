"""What docs/findings knows is recognized by its operators and attributes."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import helper

from assay import plugins
from assay.core.region import GraphNode, RegionGraph
from assay.triage.findings import PLACE, findings, patterns_of_findings
from assay.triage.graph import Graph
from assay.triage.known_causes import occurrences
from assay.triage.sites import narrowest
from assay.worker.regions.value_files import _plain_attributes

ROOT = Path(__file__).parents[3]


def test_every_finding_has_its_script_and_can_stand_in_a_graph() -> None:
    for finding in findings():
        assert (ROOT / PLACE / finding.file).is_file(), finding.file
        assert finding.seen in (ROOT / PLACE / finding.file).read_text().splitlines()[0]
        assert plugins.load("assay.backends", finding.backend)
        assert len(finding.attributes) in (0, len(finding.operators))
        assert {place for edge in finding.edges for place in edge} <= set(range(len(finding.operators)))


@pytest.mark.parametrize(
    ("attributes", "stands"),
    [({"mode": "CRD"}, 1), ({"mode": "DCR"}, 0), ({}, 0), ({"mode": "CRD", "blocksize": "2"}, 1)],
)
def test_a_finding_stands_where_its_attributes_are(attributes: dict[str, str], stands: int) -> None:
    node = GraphNode("d", "DepthToSpace", ("x",), ("y",), attributes)
    graph = Graph(RegionGraph((node,), ("x",), ("y",), ("x", "y")))
    assert sum(len(occurrences(graph, finding)) for finding in patterns_of_findings("iree")) == stands


@pytest.mark.parametrize(("dtype", "stands"), [("float32", 1), ("int64", 1), ("uint8", 1)])
def test_what_only_moves_numbers_is_a_defect_of_all_kinds_of_them(dtype: str, stands: int) -> None:
    node = GraphNode("d", "DepthToSpace", ("x",), ("y",), {"mode": "CRD"}, (dtype,))
    graph = Graph(RegionGraph((node,), ("x",), ("y",), ("x", "y")))
    assert sum(len(occurrences(graph, finding)) for finding in patterns_of_findings("iree")) == stands


def test_any_value_and_none_are_told_apart() -> None:
    by_title = {finding.title: finding for finding in patterns_of_findings("openvino")}
    any_bias = by_title["LRN rounds its bias down to a whole number"]
    none = next(cause for cause in by_title.values() if cause.operators == ("RoiAlign",))
    for pattern, operator, said, stands in (
        (any_bias, "LRN", {}, 0),
        (any_bias, "LRN", {"bias": "1.5"}, 1),
        (none, "RoiAlign", {}, 1),
        (none, "RoiAlign", {"sampling_ratio": "2"}, 0),
    ):
        graph = Graph(RegionGraph((GraphNode("n", operator, ("x",), ("y",), said),), ("x",), ("y",), ("x", "y")))
        assert len(occurrences(graph, pattern)) == stands


def test_a_list_of_whole_numbers_is_an_attribute_like_any_other() -> None:
    pool = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3], dilations=[2], auto_pad="SAME_UPPER")
    assert _plain_attributes(pool) == {"kernel_shape": "3", "dilations": "2", "auto_pad": "SAME_UPPER"}
    graph = Graph(RegionGraph((GraphNode("p", "MaxPool", ("x",), ("y",), _plain_attributes(pool)),), ("x",), ("y",)))
    found = [finding for finding in patterns_of_findings("onnxruntime") if occurrences(graph, finding)]
    assert {cause.symptom for cause in found} == {"shape", "lowest"}


@pytest.mark.parametrize(("opset", "stands"), [(11, 1), (12, 1), (13, 0)])
def test_a_defect_of_older_opsets_stands_in_these_alone(opset: int, stands: int) -> None:
    node = GraphNode("s", "Softmax", ("x",), ("y",), {})
    graph = Graph(RegionGraph((node,), ("x",), ("y",), ("x", "y"), opset))
    softmax = [finding for finding in patterns_of_findings("openvino") if finding.folder.endswith("softmax-11.py")]
    assert sum(len(occurrences(graph, pattern)) for pattern in softmax) == stands


def test_of_two_findings_at_one_place_the_one_that_says_more_is_named() -> None:
    of_products = [finding for finding in patterns_of_findings("onnxruntime") if finding.operators[-1] == "MatMul"]
    by_rows = next(
        product for product in of_products if product.folder.endswith("onnxruntime-integer-product-scaled-by-rows.py")
    )
    plain = next(product for product in of_products if product.operators == ("DequantizeLinear", "MatMul"))
    assert narrowest([plain, by_rows]) is by_rows
    assert narrowest([by_rows, plain]) is by_rows
    assert narrowest([plain]) is plain


def test_the_activations_of_a_recurrent_layer_are_attributes_like_any_other() -> None:
    layer = helper.make_node("GRU", ["x", "w", "r"], ["y"], activations=["Sigmoid", "Softplus"])
    node = GraphNode("g", "GRU", ("x", "w", "r"), ("y",), _plain_attributes(layer))
    assert node.attributes == {"activations": "Sigmoid,Softplus"}
    graph = Graph(RegionGraph((node,), ("x",), ("y",), ("x", "y")))
    titles = [finding.title for finding in patterns_of_findings("onnxruntime") if occurrences(graph, finding)]
    assert "Softplus as an activation of a recurrent layer is infinite above 88.7" in titles
