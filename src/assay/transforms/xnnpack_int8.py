"""int8 as XNNPACK computes it: symmetric weights, by the quantizer that comes with ExecuTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import UsageError
from assay.ports import Availability, Tensors
from assay.transforms.needs import needs
from assay.transforms.pt2e import quantize

KINDS = ("static-per-channel", "static-per-tensor", "dynamic-per-channel")


class XnnpackInt8:
    """`xnnpack-int8` or `xnnpack-int8:static-per-channel`, `:static-per-tensor`, `:dynamic-per-channel`.

    Conformance: `assay.testing.check_transform`.
    """

    name = "xnnpack-int8"
    accepts = "torch"
    precision = "int8"
    calibrated = True

    def availability(self) -> Availability:
        """From the package metadata."""
        return needs("torchao", "executorch", "torch", extra="executorch")

    def prepare(self) -> None:
        """Import the quantizer."""
        import executorch.backends.xnnpack.quantizer.xnnpack_quantizer  # noqa: F401
        import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Raises Unsupported where nothing can be quantized."""
        kind = argument or KINDS[0]
        if kind not in KINDS:
            raise UsageError(f"transform xnnpack-int8 is {', '.join(KINDS)}, not {argument!r}")
        from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
            XNNPACKQuantizer,
            get_symmetric_quantization_config,
        )

        dynamic = kind.startswith("dynamic")
        config = get_symmetric_quantization_config(is_per_channel=kind.endswith("channel"), is_dynamic=dynamic)
        quantizer = XNNPACKQuantizer().set_global(config)
        return quantize(model, folder, quantizer, calibration, name=self.name, dynamic=dynamic)
