"""int8 weights as the Vulkan delegate reads them, by the quantizer that comes with ExecuTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import UsageError
from assay.ports import Availability, Tensors
from assay.transforms.needs import needs
from assay.transforms.pt2e import quantize


class VulkanInt8:
    """`vulkan-int8`: weights of one scale a channel; ExecuTorch calls it static int8 too, and activations stay float (1.4).

    Conformance: `assay.testing.check_transform`.
    """

    name = "vulkan-int8"
    accepts = "torch"
    precision = "int8"
    calibrated = True

    def availability(self) -> Availability:
        """From the package metadata."""
        return needs("torchao", "executorch", "torch", extra="executorch")

    def prepare(self) -> None:
        """Import the quantizer."""
        import executorch.backends.vulkan.quantizer.vulkan_quantizer  # noqa: F401
        import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Raises Unsupported where nothing can be quantized."""
        from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
            VulkanQuantizer,
            get_symmetric_quantization_config,
        )

        if argument:
            raise UsageError(f"transform vulkan-int8 takes no argument, not {argument!r}")
        quantizer = VulkanQuantizer().set_global(get_symmetric_quantization_config())
        return quantize(model, folder, quantizer, calibration, name=self.name)
