"""A small model with plainer numbers stays one that the standard allows."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from assay.core.region import RegionEdit
from assay.errors import Lowering
from assay.worker.regions.build_region import Region, Window
from assay.worker.regions.edit_region import edited
from sentences import says

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => (float[4] y) <float s = {0.05}, float[4] w = {-1.0, 2.0, 3.0, 4.0}>
{ q = QuantizeLinear (x, s) d = DequantizeLinear (q, s) y = Mul (d, w) }"""


def region() -> Region:
    model = parser.parse_model(TEXT)
    return Region(model, [Window(list(model.graph.node), ["y"])], {"x": np.arange(4, dtype=np.float32)})


@pytest.mark.parametrize("fill", ["minus_ones", "whole"])
def test_a_scale_stays_positive(fill: str) -> None:
    with pytest.raises(Lowering, check=says("s holds positive numbers")):
        edited(region(), [RegionEdit("fill", name="s", fill=fill)])


def test_other_numbers_take_any_sign() -> None:
    _, outputs = edited(region(), [RegionEdit("fill", name="w", fill="minus_ones")])
    assert outputs["y"].tolist() == pytest.approx([0, -1, -2, -3])
    _, outputs = edited(region(), [RegionEdit("fill", name="s", fill="ones")])
    assert outputs["y"].tolist() == pytest.approx([0, 2, 6, 12])
