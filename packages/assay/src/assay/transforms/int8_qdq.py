"""Static int8 by ONNX Runtime: QuantizeLinear and DequantizeLinear around every operator that can be quantized."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.note import noted
from assay.core.refusals.transform_codes import TransformCode
from assay.errors import Unsupported, UsageError
from assay.ports import Availability, Tensors
from assay.transforms.node_order import sort_file
from assay.transforms.onnx_files import SINGLE_FILE_BYTES, WRITTEN, read, refused, require_opset
from assay.transforms.onnxruntime_quantization import (
    Reader,
    prepared,
    quiet,
    require_quantized,
    require_samples,
    require_sound,
    silent_calibration,
)
from assay.transforms.requirements import requirements

GRANULARITIES = ("per-tensor", "per-channel", "per-tensor-symmetric", "per-channel-symmetric")
LEAST_OPSET = 13
"""From here on QuantizeLinear has an axis."""


class Int8Qdq:
    """`int8-qdq` or `int8-qdq:per-tensor`, or `int8-qdq:per-channel` (weights of convolutions and matrix products).

    `-symmetric` after either quantizes activations around 0 too, for backends that know no other zero point (TensorRT).

    Weights and activations are signed; ranges are the least and the largest value that the calibration samples show.
    Conformance: `assay.testing.check_transform`.
    """

    name = "int8-qdq"
    accepts = "onnx"
    precision = "int8"
    calibrated = True
    arguments = GRANULARITIES

    def availability(self) -> Availability:
        """From the package metadata."""
        return requirements("onnxruntime", extra="onnxruntime")

    def prepare(self) -> None:
        """Import the quantizer."""
        import onnxruntime.quantization  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Raises Unsupported where nothing can be quantized."""
        from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

        if argument not in ("", *GRANULARITIES):
            raise UsageError(
                noted(TransformCode.TAKES_ONE_OF, transform=self.name, known=tuple(GRANULARITIES), argument=argument)
            )
        require_samples(calibration, self.name)
        proto = read(model)
        require_opset(proto, LEAST_OPSET, self.name)
        if any(node.op_type == "QuantizeLinear" for node in proto.graph.node):
            raise Unsupported(noted(TransformCode.QUANTIZED_ALREADY))
        ready = prepared(model, folder, self.name)
        written = folder / WRITTEN
        try:
            with quiet(), silent_calibration():
                quantize_static(
                    str(ready),
                    str(written),
                    Reader(calibration),
                    quant_format=QuantFormat.QDQ,
                    per_channel=argument.startswith("per-channel"),
                    activation_type=QuantType.QInt8,
                    weight_type=QuantType.QInt8,
                    calibrate_method=CalibrationMethod.MinMax,
                    extra_options={"ActivationSymmetric": argument.endswith("-symmetric")},
                    use_external_data_format=ready.stat().st_size > SINGLE_FILE_BYTES,
                )
        except Exception as error:
            raise refused(self.name, error) from error
        sort_file(written)
        require_quantized(written, self.name)
        require_sound(written, ready, self.name)
        return written
