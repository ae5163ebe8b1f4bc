"""Signals in frames."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="misc,override"

from __future__ import annotations

import numpy as np
from onnx.reference.op_run import OpRun

from assay.core.constraint import ConstraintCode
from assay.numerics.shapes.constraints import Conflict
from assay.ports import Tensor


class STFT(OpRun):
    """Frames without padding, each weighted and transformed (STFT-17): [batch, frames, frequencies, 2].

    The standard writes real samples as [batch, samples, 1]. Without the last axis they are the same ones: every engine takes them so, and
    models in use leave it out. That of onnx.reference 1.23 fails there, and copies frame by frame.
    """

    op_domain = ""

    def _run(
        self,
        x: Tensor,
        frame_step: Tensor,
        window: Tensor | None = None,
        frame_length: Tensor | None = None,
        onesided: int | None = None,
    ) -> tuple[Tensor]:
        signal = x if x.ndim == 2 else x[..., 0] + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
        if frame_length is not None:
            length = int(np.asarray(frame_length).item())
        else:
            length = signal.shape[1] if window is None else window.shape[0]
        if signal.shape[1] < length:
            raise Conflict(ConstraintCode.FRAME, frame=length, size=signal.shape[1])
        step = int(np.asarray(frame_step).item())
        frames = np.lib.stride_tricks.sliding_window_view(signal, length, axis=1)[:, ::step]
        weighted = frames if window is None else frames[..., : window.shape[0]] * window[:length]
        half = (onesided is None or bool(onesided)) and not np.iscomplexobj(signal)
        array = np.fft.rfft(weighted, length) if half else np.fft.fft(weighted, length)
        return (np.stack([array.real, array.imag], axis=-1).astype(x.dtype),)
