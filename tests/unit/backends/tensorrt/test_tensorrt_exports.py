"""The JSON of the engine inspector in both schemas, and the other files of trtexec."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.backends.tensorrt.exports import parse_profile, parse_times
from assay.backends.tensorrt.inspector import IOTensor, parse_layers, type_of
from assay.errors import UsageError

_TEXTS = Path(__file__).parent / "texts"


def _text(name: str) -> str:
    return (_TEXTS / name).read_text()


def test_the_schema_until_10() -> None:
    layers = parse_layers(_text("layers-10.json"))
    assert [(layer.operator, layer.precision, layer.role) for layer in layers.layers] == [
        ("Reformat", "float32", "cast"),
        ("Convolution", "float16", "fused"),
        ("Convolution", "int8", "compute"),
        ("Reformat", "float16", "reformat"),
        ("Myelin", "float32", "fused"),
    ]
    assert layers.layers[1].origins == ("stem_conv", "stem_relu")
    assert layers.layers[2].tactic == "an_int8_kernel"
    assert layers.io == (IOTensor("image"), IOTensor("scores"))


def test_the_schema_of_11() -> None:
    layers = parse_layers(_text("layers-11.json"))
    assert [(layer.operator, layer.precision, layer.role) for layer in layers.layers] == [
        ("cast", "float32", "cast"),
        ("conv", "float16", "fused"),
        ("gemm", "bfloat16", "compute"),
    ]
    assert layers.io[0] == IOTensor("image", "Input", "float32", (-1, 3, 32, 32))
    assert layers.io[1].mode == "Output"


def test_kernels_that_skip_zeros_have_it_in_their_name() -> None:
    assert parse_layers(_text("layers-10.json")).sparse_kernels() == 0
    named = _text("layers-10.json").replace("an_int8_kernel", "sm80_xmma_sparse_gemm_interleaved_i8i8_i8i32_f32")
    assert parse_layers(named).sparse_kernels() == 1
    assert parse_layers('{"Layers": ["conv + relu"], "Bindings": []}').sparse_kernels() is None


def test_placements_count_layers_by_operator_type_and_role() -> None:
    placements = parse_layers(_text("layers-10.json")).placements()
    assert {(placement.operator, placement.precision, placement.role): placement.count for placement in placements}[
        ("Convolution", "int8", "compute")
    ] == 1
    assert {placement.device for placement in placements} == {"GPU"}
    assert sum(placement.count for placement in placements) == 5


def test_an_engine_that_tells_names_only() -> None:
    layers = parse_layers('{"Layers": ["conv + relu", "pool"], "Bindings": ["x", "y"]}')
    assert [(layer.name, layer.role, layer.precision) for layer in layers.layers] == [
        ("conv + relu", "fused", ""),
        ("pool", "", ""),
    ]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("Row major linear FP32", "float32"),
        ("Channel major FP16 format where channel % 8 == 0", "float16"),
        ("Four wide channel vectorized row major Int8 format", "int8"),
        ("Row major linear INT32", "int32"),
        ("Row major linear Int64 format", "int64"),
        ("Row major linear BF16 format", "bfloat16"),
        ("Row major linear FP8 format", "float8_e4m3fn"),
        ("UInt8", "uint8"),
        ("Bool", "bool"),
        ("Half", "float16"),
        ("", ""),
        ("something new", ""),
    ],
)
def test_types_in_its_words(words: str, wanted: str) -> None:
    assert type_of(words) == wanted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no JSON"),
        ("{}", "'Layers' is missing"),
        ('"x"', "'Layers' is missing"),
        ('{"Layers": [3]}', "'Name' is missing"),
    ],
)
def test_no_layers(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_layers(text)


def test_times_are_seconds() -> None:
    first, second = parse_times(_text("times.json"))
    assert first.latency_s == pytest.approx(0.000878472)
    assert (first.h2d_s, first.d2h_s) == (pytest.approx(1e-5), pytest.approx(5e-6))
    assert first.enqueue_s == pytest.approx(3.389e-5)
    assert second.compute_s == second.latency_s == pytest.approx(0.0008448)


def test_a_profile_has_its_count_and_shares() -> None:
    profile = parse_profile(_text("profile.json"))
    assert profile.count == 1051
    assert [layer.share for layer in profile.layers] == [0.25, 0.75]
    assert profile.layers[1].median_s == pytest.approx(0.0002426)
    assert profile.layers[1].name == "stem_conv + stem_relu"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "truncated"),
        ("{}", "no list of objects"),
        ('[{"startEnqMs": 1}]', 'entry 0 has no finite number "h2dMs"|"endEnqMs"'),
        ('[{"h2dMs": NaN}]', "no finite number"),
    ],
)
def test_no_times(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_times(text, "times.json")


@pytest.mark.parametrize("text", ["[]", '[{"name": "x"}]', '[{"count": 1}, {"name": "x", "timeMs": "fast"}]'])
def test_no_profile(text: str) -> None:
    with pytest.raises(UsageError, match=r"profile\.json"):
        parse_profile(text, "profile.json")
