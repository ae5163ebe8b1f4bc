"""NNCF 3.4.0, on ONNX: a Gemm whose third input is no bias of a layer ends the quantization in an error of its own.

Expected: a quantized model, as without the third input, or with weights and a bias that are constants. Got: `AssertionError`
(`assert len(activation_ports) == 1`, correction of biases) where both factors are inputs, and
`ValidationError: There is no tensor with the name None` where one is constant and what is added is not.
Found by `assay run operators --flow openvino-int8 --filter 'addmm-float32-smoke*'`.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import nncf
import numpy as np
from onnx import TensorProto, helper, numpy_helper

SHAPES = {"a": (4, 8), "b": (8, 5), "c": (4, 5)}
rng = np.random.default_rng(0)
logging.disable(logging.WARNING)


def drawn(names: str) -> dict[str, Any]:
    return {name: rng.standard_normal(SHAPES[name]).astype(np.float32) for name in names}


def refused(names: str, constants: str) -> str:
    """How `nncf.quantize` ends on a Gemm of these inputs, "" where it gives a model."""
    given = [name for name in names if name not in constants]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPES[name]) for name in given]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, (4, 5))
    stored = [numpy_helper.from_array(array, name) for name, array in drawn(constants).items()]
    graph = helper.make_graph([helper.make_node("Gemm", list(names), ["y"])], "one", inputs, [output], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    try:
        nncf.quantize(model, nncf.Dataset([drawn("".join(given)) for _ in range(4)]), subset_size=4)
    except (AssertionError, nncf.ValidationError) as error:
        return f"{type(error).__name__} {error}"
    return ""


print("nncf", nncf.__version__)
wrong = 0
for names, constants in (("ab", ""), ("abc", "bc"), ("abc", ""), ("abc", "c"), ("abc", "b"), ("abc", "a")):
    refusal = refused(names, constants)
    fixed = f", {' and '.join(constants)} constant" if constants else ""
    print(f"Gemm of {', '.join(names)}{fixed}: {refusal or 'quantized'}")
    wrong += bool(refusal)
sys.exit(int(wrong > 0))
