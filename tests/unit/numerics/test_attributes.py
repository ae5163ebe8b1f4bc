"""An oracle takes an attribute as it is stated: what is wrong stays wrong, and 0 is a number."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from assay.numerics.attributes import stated
from assay.numerics.oracle.evaluator import Evaluator

HEAD = '<ir_version: 9, opset_import: ["" : 17]>\n'


@pytest.mark.parametrize(
    ("attributes", "value"), [({}, 7), ({"a": None}, 7), ({"a": 0}, 0), ({"a": []}, []), ({"a": ""}, "")]
)
def test_only_what_is_absent_has_the_default(attributes: dict[str, object], value: object) -> None:
    assert stated(attributes, "a", 7) == value


@pytest.mark.parametrize("wrong", ["group = 0", "strides = [0, 1]", "dilations = [1]", 'auto_pad = "SAME"'])
def test_a_wrong_convolution_is_not_computed_as_another(wrong: str) -> None:
    text = f"g (float[1,2,4,4] x, float[2,2,3,3] w) => (float[a,b,c,d] y) {{ y = Conv<{wrong}>(x, w) }}"
    feeds = {"x": np.ones((1, 2, 4, 4), np.float32), "w": np.ones((2, 2, 3, 3), np.float32)}
    with pytest.raises(Exception, match=r".*"):
        Evaluator(parser.parse_model(HEAD + text)).evaluate(feeds)
