"""What a flow may declare: convolutions by Winograd, rounded chirps, sums accumulated in float16. Kernels that really compute so."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.rules.winograd import amplification, matrices

Array = np.ndarray[Any, Any]
SIZE = 24
# F(4x4, 3x3): Lavin and Gray 2016, Fast Algorithms for Convolutional Neural Networks, 4.
BT = np.array(
    [[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0], [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0],
     [0, 4, 0, -5, 0, 1]], np.float32,
)  # fmt: skip
G = (np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24).astype(np.float32)
AT = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]], np.float32)


def _convolution(channels: int, out: int, seed: int) -> tuple[onnx.ModelProto, Array, Array]:
    random = np.random.default_rng(seed)
    text = f"""g (float[1, {channels}, {SIZE + 2}, {SIZE + 2}] x) => (float[1, {out}, {SIZE}, {SIZE}] y) {{
        c = Conv(x, w)
        y = Relu(c)
    }}"""
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    w = (random.standard_normal((out, channels, 3, 3)) / np.sqrt(9 * channels)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(w, "w"))
    x = random.standard_normal((1, channels, SIZE + 2, SIZE + 2)).astype(np.float32)
    return model, x, w


def _winograd(x: Array, w: Array) -> Array:
    """Tiles of 6x6 give 4x4 each; everything in float32."""
    filters = G @ w @ G.T
    y = np.zeros((1, w.shape[0], SIZE, SIZE), np.float32)
    for row in range(0, SIZE, 4):
        for column in range(0, SIZE, 4):
            tile = BT @ x[0, :, row : row + 6, column : column + 6] @ BT.T
            product = np.zeros((w.shape[0], 6, 6), np.float32)
            for channel in range(x.shape[1]):
                product += filters[:, channel] * tile[channel]
            y[0, :, row : row + 4, column : column + 4] = AT @ product @ AT.T
    return np.maximum(y, 0)


def _budget(model: onnx.ModelProto, x: Array, y: Array, precision: str, *allowances: str) -> float:
    profile = derive_model(model, [{"x": x}], precision, allowances=allowances)
    return float(judge_outputs([{"y": y}], None, profile)["y"].metrics["budget_used"])


@pytest.mark.parametrize(("channels", "seed"), [(1, 0), (3, 1), (8, 2), (32, 3), (64, 4)])
def test_winograd_is_allowed_where_it_is_declared(channels: int, seed: int) -> None:
    model, x, w = _convolution(channels, 8, seed)
    declared = _budget(model, x, _winograd(x, w), "float32", "winograd")
    assert declared < 1
    assert _budget(model, x, _winograd(x, w), "float32") > 2 * declared
    coarse = w.view(np.uint32) & np.uint32(0xFFFFE000)  # eleven significant bits
    assert _budget(model, x, _winograd(x, coarse.view(np.float32)), "float32", "winograd") > 1
    lost = w.copy()
    lost[:, -1, -1, -1] = 0
    assert _budget(model, x, _winograd(x, lost), "float32", "winograd") > 1


def _by_tiles(x: Array, w: Array, tile: int) -> Array:
    """A square kernel on tiles of 6 or 8, with the points 0, 1, -1, 2, -2, 3, -3; everything in float32."""
    at, g, bt = (matrix.astype(np.float32) for matrix in matrices(tile, w.shape[2]))
    out = len(at)
    filters = g @ w @ g.T
    size = x.shape[2] - w.shape[2] + 1
    whole = -(-size // out) * out
    padded = np.pad(x[0], ((0, 0), *[(0, whole + w.shape[2] - 1 - x.shape[2])] * 2))
    y = np.zeros((1, w.shape[0], whole, whole), np.float32)
    for row in range(0, whole, out):
        for column in range(0, whole, out):
            part = bt @ padded[:, row : row + tile, column : column + tile] @ bt.T
            product = np.zeros((w.shape[0], tile, tile), np.float32)
            for channel in range(x.shape[1]):
                product += filters[:, channel] * part[channel]
            y[0, :, row : row + out, column : column + out] = at @ product @ at.T
    return y[:, :, :size, :size]


def _square(kernel: int, channels: int) -> tuple[onnx.ModelProto, Array, Array]:
    random = np.random.default_rng([kernel, channels])
    size = SIZE - kernel + 1
    text = f"g (float[1, {channels}, {SIZE}, {SIZE}] x) => (float[1, 8, {size}, {size}] y) {{ y = Conv(x, w) }}"
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    w = (random.standard_normal((8, channels, kernel, kernel)) / kernel / np.sqrt(channels)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(w, "w"))
    return model, random.standard_normal((1, channels, SIZE, SIZE)).astype(np.float32), w


@pytest.mark.parametrize("channels", [1, 3, 32])
@pytest.mark.parametrize("kernel", [2, 3, 4, 5, 6, 7])
def test_larger_tiles_are_allowed_where_they_are_declared(kernel: int, channels: int) -> None:
    model, x, w = _square(kernel, channels)
    y = _by_tiles(x, w, 8)
    assert _budget(model, x, y, "float32", "winograd-8x8") < 1
    assert _budget(model, x, y, "float32", "winograd") > 1
    lost = w.copy()
    lost[:, -1, -1, -1] = 0
    assert _budget(model, x, _by_tiles(x, lost, 8), "float32", "winograd-8x8") > 1


def test_the_matrices_give_the_convolution_and_what_they_let_out_is_known() -> None:
    for tile, kernel in ((4, 3), (6, 3), (6, 5), (8, 3), (8, 5), (8, 7)):
        at, g, bt = matrices(tile, kernel)
        x, w = np.random.default_rng(0).standard_normal(tile), np.random.default_rng(1).standard_normal(kernel)
        np.testing.assert_allclose(at @ ((g @ w) * (bt @ x)), np.correlate(x, w, "valid"), rtol=1e-9)
    assert amplification(6, 3).mean() == pytest.approx(116.05, abs=0.01)
    for ours, published in zip(matrices(6, 3), (AT, G, BT), strict=True):
        np.testing.assert_allclose(np.abs(ours), np.abs(published), atol=1e-6)


def _accumulated(x: Array, w: Array, dtype: Any) -> Array:
    """One product after the other, each sum rounded to `dtype`."""
    left, right = x.astype(np.float16).astype(np.float32), w.astype(np.float16).astype(np.float32)
    total = np.zeros((x.shape[0], w.shape[1]), dtype)
    for k in range(x.shape[1]):
        total = (total.astype(np.float32) + left[:, k, None] * right[None, k]).astype(dtype)
    return total.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize("terms", [64, 1024, 8192])
def test_sums_in_float16_are_allowed_where_they_are_declared(terms: int) -> None:
    random = np.random.default_rng(terms)
    text = f"g (float[16, {terms}] x) => (float[16, 16] y) {{ y = MatMul(x, w) }}"
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    w = random.standard_normal((terms, 16)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(w, "w"))
    x = random.standard_normal((16, terms)).astype(np.float32)
    assert _budget(model, x, _accumulated(x, w, np.float32), "float16") < 1
    wrong = _accumulated(x, w, np.float16)
    assert _budget(model, x, wrong, "float16", "fp16-accumulation") < 1
    if terms >= 8192:
        assert _budget(model, x, wrong, "float16") > 1


def _by_chirps(x: Array) -> Array:
    """Bluestein 1970 with angles in float32: the transform of a line whose length is no power of two."""
    length = len(x)
    angles = (np.arange(length, dtype=np.float32) ** 2 * np.float32(np.pi / length)).astype(np.float32)
    chirp = (np.cos(angles) - 1j * np.sin(angles)).astype(np.complex64)
    whole = 1 << (2 * length - 1).bit_length()
    kernel = np.zeros(whole, np.complex64)
    kernel[:length] = chirp.conj()
    kernel[whole - length + 1 :] = chirp.conj()[:0:-1]
    product = np.fft.ifft(np.fft.fft(x * chirp, whole) * np.fft.fft(kernel))[:length]
    spectrum = (product * chirp)[: length // 2 + 1]
    return np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)


@pytest.mark.parametrize("length", [100, 400, 1001])
def test_rounded_chirps_are_allowed_where_they_are_declared(length: int) -> None:
    model: onnx.ModelProto = parser.parse_model(f"""<ir_version: 9, opset_import: ["" : 20]>
        g (float[1, {length}, 1] x) => (float[1, {length // 2 + 1}, 2] y) {{
        a = Constant<value = int64 {{1}}>()
        y = DFT<onesided = 1>(x, , a)
    }}""")
    x = np.random.default_rng(length).standard_normal((1, length, 1)).astype(np.float32)
    y = _by_chirps(x[0, :, 0])[np.newaxis]
    assert _budget(model, x, y, "float32", "rounded-chirps") < 1
    assert _budget(model, x, y, "float32") > 1
    lost = x.copy()
    lost[0, 0, 0] += 0.1
    assert _budget(model, x, _by_chirps(lost[0, :, 0])[np.newaxis], "float32", "rounded-chirps") > 1


@pytest.mark.parametrize("length", [400, 512])
def test_a_frame_is_as_noisy_as_its_own_samples_and_not_as_all_frames_in_the_middle(length: int) -> None:
    samples = 400 * length
    model: onnx.ModelProto = parser.parse_model(f"""<ir_version: 9, opset_import: ["" : 17]>
        g (float[1, {samples}, 1] x) => (float[1, a, {length // 2 + 1}, 2] y) {{
        step = Constant<value = int64 {{{length // 2}}}>()
        length = Constant<value = int64 {{{length}}}>()
        y = STFT(x, step, , length)
    }}""")
    x = np.zeros((1, samples, 1), np.float32)
    x[0, : length // 2, 0] = np.random.default_rng(length).standard_normal(length // 2)
    frames = np.lib.stride_tricks.sliding_window_view(x[..., 0], length, axis=1)[:, :: length // 2]
    spectrum = np.fft.rfft(frames.astype(np.float64))
    exact = np.stack([spectrum.real, spectrum.imag], -1)
    noise = np.random.default_rng(0).standard_normal(exact.shape) * np.linalg.norm(frames, axis=-1)[..., None, None]
    right = (exact + 2.0**-22 * noise).astype(np.float32)
    assert _budget(model, x, right, "float32") < 1
    right[:, 50:] += np.float32(1e-4)  # where all is silent
    assert _budget(model, x, right, "float32") > 1
