"""What pnnx's end becomes."""

from __future__ import annotations

from assay.backends.converter import Converted
from assay.backends.ncnn.errors import conversion_failure


def test_where_the_converter_died_is_named() -> None:
    text = "############# pass_level1 onnx\n############# pass_level2\nfallback aten::einsum\n############# pass_ncnn\n"
    failure = conversion_failure(Converted(text, -11))
    assert str(failure) == "pnnx's converter died of SIGSEGV: in its pass_ncnn, at aten::einsum."
    assert getattr(failure, "node", "") == "aten::einsum"
