"""Static int8 by NNCF, as OpenVINO wants it: per-channel weights, and biases corrected on the samples."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

from assay.core.note import noted
from assay.core.refusals.transform_codes import TransformCode
from assay.errors import UsageError
from assay.ports import Availability, Tensors
from assay.transforms.onnx_files import WRITTEN, read, refused, require_opset, write
from assay.transforms.onnxruntime_quantization import prepared, quiet, require_quantized, require_samples
from assay.transforms.requirements import requirements

PRESETS = ("performance", "mixed")
LEAST_OPSET = 13


class Int8Nncf:
    """`int8-nncf` or `int8-nncf:performance` (symmetric activations), `int8-nncf:mixed` (asymmetric ones).

    Every sample given is used, in the order given. Conformance: `assay.testing.check_transform`.
    """

    name = "int8-nncf"
    accepts = "onnx"
    precision = "int8"
    calibrated = True
    arguments = PRESETS

    def availability(self) -> Availability:
        """From the package metadata. NNCF reads ONNX through onnxruntime."""
        return requirements("nncf", "onnxruntime", extra="nncf")

    def prepare(self) -> None:
        """Import nncf and its ONNX side."""
        import nncf  # noqa: F401
        import onnxruntime  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Raises Unsupported where nothing can be quantized."""
        import nncf

        if argument not in ("", *PRESETS):
            raise UsageError(
                noted(TransformCode.TAKES_ONE_OF, transform=self.name, known=tuple(PRESETS), argument=argument)
            )
        require_samples(calibration, self.name)
        require_opset(read(model), LEAST_OPSET, self.name)
        # Batch normalizations folded first: nncf 3.4 quantizes an ONNX convolution apart from the one that follows it.
        ready = read(prepared(model, folder, self.name))
        preset = nncf.QuantizationPreset.MIXED if argument == "mixed" else nncf.QuantizationPreset.PERFORMANCE
        samples = [dict(sample) for sample in calibration]
        try:
            # Its progress bars are no part of a job's log.
            with quiet(), contextlib.redirect_stdout(io.StringIO()):
                quantized = nncf.quantize(ready, nncf.Dataset(samples), preset=preset, subset_size=len(samples))
        except Exception as error:
            raise refused(self.name, error) from error
        written = write(quantized, folder / WRITTEN)
        require_quantized(written, self.name)
        return written
