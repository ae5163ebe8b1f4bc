"""What MNN writes of a model is no JSON where a number is infinite."""

from __future__ import annotations

import math

from assay.backends.mnn.convert import parsed


def test_infinities_are_read() -> None:
    text = b'{"oplists": [\n -inf,\n inf, nan,-nan, 1.5],\n "name": "a -inf mask, nan too"}'
    graph = parsed(text)
    assert graph["name"] == "a -inf mask, nan too"
    assert graph["oplists"][:2] == [-math.inf, math.inf]
    assert all(math.isnan(number) for number in graph["oplists"][2:4])
