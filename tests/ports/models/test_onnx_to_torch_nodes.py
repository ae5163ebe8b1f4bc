"""The conversion to torch against every node case of the standard: right, or refused with the node's name."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from assay.errors import Unsupported
from assay.onnx_to_torch import torch_graph_of
from assay.onnx_to_torch.dtypes import from_numpy, to_numpy

# Half of the relative precision that these types carry, and of what float32 sums of a few hundred terms lose.
_RELATIVE = {"bfloat16": 2e-2, "float16": 2e-3}


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def _run(case: Any, inputs: Any, outputs: Any) -> None:
    module = torch_graph_of(case.model)
    names = [value.name for value in case.model.graph.input]
    if any(isinstance(value, list) or value is None for value in inputs):
        raise Unsupported("only tensors are fed")
    feeds = [
        from_numpy(_array(value)) for name, value in zip(names, inputs, strict=False) if name in module.graph.inputs
    ]
    with torch.no_grad():
        results = module(*feeds)
    for name, result, wanted in zip(module.graph.outputs, results, map(_array, outputs), strict=True):
        _check(name, to_numpy(result), wanted, case)


def _check(name: str, got: Any, wanted: Any, case: Any) -> None:
    assert got.dtype == wanted.dtype, f"{name} is {got.dtype}, not {wanted.dtype}"
    assert got.shape == wanted.shape, f"{name} is {got.shape}, not {wanted.shape}"
    relative = max(case.rtol, _RELATIVE.get(wanted.dtype.name, 1e-3))
    if "float" in wanted.dtype.name:
        got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    finite = np.abs(wanted[np.isfinite(wanted)]) if wanted.dtype.kind == "f" else np.zeros(0)
    np.testing.assert_allclose(
        got, wanted, rtol=relative, atol=max(case.atol, 1e-7, 1e-6 * finite.max(initial=0)), err_msg=name
    )


@pytest.mark.filterwarnings("ignore")
def test_every_node_case_is_right_or_refused(node_cases: list[Any]) -> None:
    right, refused, wrong = 0, Counter[str](), list[str]()
    for case in node_cases:
        try:
            for inputs, outputs in case.data_sets:
                _run(case, inputs, outputs)
            right += 1
        except Unsupported as error:
            refused[str(error)] += 1
        except Exception as error:
            wrong.append(f"{case.name}: {type(error).__name__} {' '.join(str(error).split())[:200]}")
    print(f"{right} right, {refused.total()} refused, {len(wrong)} wrong")
    assert not wrong, "\n".join(wrong)
    # onnx 1.23.2 has 1884 node cases; those refused are of text, sequences, four-bit types, training and randomness.
    assert right >= 1690
