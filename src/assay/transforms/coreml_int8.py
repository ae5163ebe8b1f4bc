"""Static int8 as Core ML reads it (iOS 17 and newer), by the quantizer that comes with ExecuTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import UsageError
from assay.ports import Availability, Tensors
from assay.transforms.needs import needs
from assay.transforms.pt2e import quantize


class CoremlInt8:
    """`coreml-int8`: symmetric, weights of one scale a channel.

    Conformance: `assay.testing.check_transform`.
    """

    name = "coreml-int8"
    accepts = "torch"
    precision = "int8"
    calibrated = True

    def availability(self) -> Availability:
        """From the package metadata."""
        return needs("torchao", "executorch", "coremltools", "torch", extra="executorch")

    def prepare(self) -> None:
        """Import the quantizer."""
        import executorch.backends.apple.coreml.quantizer  # noqa: F401
        import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Raises Unsupported where nothing can be quantized."""
        import torch
        from coremltools.optimize.torch.quantization import LinearQuantizerConfig
        from executorch.backends.apple.coreml.quantizer import CoreMLQuantizer

        if argument:
            raise UsageError(f"transform coreml-int8 takes no argument, not {argument!r}")
        config = LinearQuantizerConfig.from_dict(
            {
                "global_config": {
                    "quantization_scheme": "symmetric",
                    "activation_dtype": torch.quint8,
                    "weight_dtype": torch.qint8,
                    "weight_per_channel": True,
                }
            }
        )
        return quantize(model, folder, CoreMLQuantizer(config), calibration, name=self.name)
