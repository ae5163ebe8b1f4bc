"""Fourier transforms and windows of signals. Complex numbers are a last dimension of two."""

from __future__ import annotations

from typing import Any

import torch

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import integer

Tensor = torch.Tensor


@operator("DFT", host=(1, 2))
def dft(node: Node, x: Tensor, length: Any = None, axis: Any = None) -> Tensor:
    rank = x.ndim - 1
    where = (node.get("axis", 1) if node.opset < 20 else -2) if axis is None else integer(axis)
    where = where % x.ndim if where >= 0 else where + x.ndim
    if where >= rank:
        raise node.unsupported(noted(ConversionCode.COMPLEX_AXIS))
    inverse, onesided = bool(node.get("inverse", 0)), bool(node.get("onesided", 0))
    count = None if length is None else integer(length)
    signal = x[..., 0] if x.shape[-1] == 1 else torch.view_as_complex(x.contiguous())
    if inverse and onesided:
        size = count if count is not None else 2 * (signal.shape[where] - 1)
        return torch.fft.irfft(signal, size, where).unsqueeze(-1)
    if inverse:
        result = torch.fft.ifft(signal, count, where)
    elif onesided and not signal.is_complex():
        result = torch.fft.rfft(signal, count, where)
    else:
        result = torch.fft.fft(signal, count, where)
        if onesided:
            result = result.narrow(where, 0, result.shape[where] // 2 + 1)
    return torch.view_as_real(result)


@operator("STFT", host=(1, 3))
def stft(node: Node, x: Tensor, step: Any, window: Tensor | None = None, length: Any = None) -> Tensor:
    """Frames without padding: [batch, frames, frequencies, 2]."""
    size = integer(length) if length is not None else (window.shape[0] if window is not None else None)
    if size is None:
        raise node.unsupported(noted(ConversionCode.NO_WINDOW))
    signal = x
    if x.ndim == 3:
        signal = x[..., 0] if x.shape[-1] == 1 else torch.view_as_complex(x.contiguous())
    frames = signal.unfold(1, size, integer(step))
    if window is not None:
        frames = frames * window
    if node.get("onesided", 1) and not frames.is_complex():
        return torch.view_as_real(torch.fft.rfft(frames, dim=-1))
    return torch.view_as_real(torch.fft.fft(frames, dim=-1))


@operator("MelWeightMatrix", host=(0, 1, 2, 3, 4))
def mel_weight_matrix(node: Node, bins: Any, length: Any, rate: Any, low: Any, high: Any) -> Tensor:
    """Triangles that are even on the mel scale, 2595 log10(1 + f / 700)."""
    from assay.onnx_to_torch.dtypes import onnx_dtype
    from assay.onnx_to_torch.values import scalar

    count, spectrum = integer(bins), integer(length) // 2 + 1
    lower, upper = (
        2595 * torch.log10(1 + torch.tensor(float(scalar(frequency)), dtype=torch.float64) / 700)
        for frequency in (low, high)
    )
    mels = lower + torch.arange(count + 2, dtype=torch.float64) * (upper - lower) / (count + 2)
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = torch.floor((integer(length) + 1) * hertz / integer(rate)).to(torch.int64)
    matrix = torch.zeros(spectrum, count, dtype=torch.float64)
    for i in range(count):
        start, middle, end = edges[i : i + 3].tolist()
        if middle == start:
            matrix[middle, i] = 1
        for j in range(start, middle + 1 if middle > start else start):
            matrix[j, i] = (j - start) / (middle - start)
        for j in range(middle, end if end > middle else middle):
            matrix[j, i] = (end - j) / (end - middle)
    return matrix.to(onnx_dtype(node.get("output_datatype", 1)))
