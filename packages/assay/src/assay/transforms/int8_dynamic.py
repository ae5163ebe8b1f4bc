"""Dynamic int8 by ONNX Runtime: weights in int8, activations quantized while running, no samples needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.note import noted
from assay.core.refusals.transform_codes import TransformCode
from assay.errors import UsageError
from assay.ports import Availability, Tensors
from assay.transforms.node_order import sort_file
from assay.transforms.onnx_files import SINGLE_FILE_BYTES, WRITTEN, read, refused, require_opset
from assay.transforms.onnxruntime_quantization import prepared, quiet, require_quantized, require_sound
from assay.transforms.requirements import requirements

LEAST_OPSET = 11
"""DynamicQuantizeLinear appeared there."""


class Int8Dynamic:
    """`int8-dynamic`: matrix products, convolutions and recurrent layers. Conformance: `assay.testing.check_transform`."""

    name = "int8-dynamic"
    accepts = "onnx"
    precision = "int8"
    calibrated = False

    def availability(self) -> Availability:
        """From the package metadata."""
        return requirements("onnxruntime", extra="onnxruntime")

    def prepare(self) -> None:
        """Import the quantizer."""
        import onnxruntime.quantization  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Raises Unsupported where nothing can be quantized."""
        from onnxruntime.quantization import QuantType, quantize_dynamic

        del calibration
        if argument:
            raise UsageError(noted(TransformCode.TAKES_NO_ARGUMENT, transform=self.name, argument=argument))
        require_opset(read(model), LEAST_OPSET, self.name)
        ready = prepared(model, folder, self.name)
        written = folder / WRITTEN
        try:
            with quiet():
                quantize_dynamic(
                    str(ready),
                    str(written),
                    weight_type=QuantType.QInt8,
                    use_external_data_format=ready.stat().st_size > SINGLE_FILE_BYTES,
                )
        except Exception as error:
            raise refused(self.name, error) from error
        sort_file(written)
        require_quantized(written, self.name)
        require_sound(written, ready, self.name)
        return written
