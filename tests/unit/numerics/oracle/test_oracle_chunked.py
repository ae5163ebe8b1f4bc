"""Large arrays are computed part by part, and every bit is what all at once would give."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser

from assay.numerics.oracle import chunked, convolution
from assay.numerics.oracle.chunked import in_chunks
from assay.numerics.oracle.evaluator import WideEvaluator

NETWORK = """<ir_version: 10, opset_import: ["" : 21]>
g (float[4, 6, 9, 9] x) => (float[4, 8, 9, 9] c, float[4, 6, 4, 4] p, uint8[4, 6, 9, 9] q, float[4, 6, 9, 9] d, float[4, 6, 9, 9] e) {
    c = Conv<pads=[1, 1, 1, 1], group=2>(x, w, b)
    p = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(x)
    q = QuantizeLinear<axis=1>(x, scales, zeros)
    d = DequantizeLinear<axis=1>(q, scales, zeros)
    r = QuantizeLinear<axis=0>(x, rows, none)
    e = DequantizeLinear<axis=0>(r, rows, none)
}"""


def _drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng([3, *shape]).standard_normal(shape).astype(np.float32)


def test_parts_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model = parser.parse_model(NETWORK)
    held = {
        "w": _drawn(8, 3, 3, 3),
        "b": _drawn(8),
        "scales": np.abs(_drawn(6)) + 0.01,
        "rows": np.abs(_drawn(4)) + 0.01,
    }
    held |= {"zeros": np.arange(100, 106, dtype=np.uint8), "none": np.zeros(4, np.int8)}
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in held.items())
    feeds = {"x": _drawn(4, 6, 9, 9).astype(np.float64)}
    whole = WideEvaluator(model).evaluate(feeds)
    monkeypatch.setattr(chunked, "AT_ONCE", 100)
    monkeypatch.setattr(convolution, "AT_ONCE", 100)
    for array, other in zip(whole, WideEvaluator(model).evaluate(feeds), strict=True):
        assert array.tobytes() == other.tobytes()


@pytest.mark.parametrize("shape", [(1,), (5, chunked.AT_ONCE // 2), (3, chunked.AT_ONCE), (0, 7), ()])
def test_every_index_is_in_one_part(shape: tuple[int, ...]) -> None:
    seen = np.zeros(shape, np.int64)
    chunks = list(in_chunks(shape))
    for part in chunks:
        seen[part] += 1
    assert (seen == 1).all()
    assert len(chunks) > 1 or seen.size <= chunked.AT_ONCE
