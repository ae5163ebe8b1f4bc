"""int8 weights as the Vulkan delegate reads them, by the quantizer that comes with ExecuTorch."""

from __future__ import annotations

from typing import Any

from assay.transforms.pt2e import Pt2eInt8


class VulkanInt8(Pt2eInt8):
    """`vulkan-int8`: weights of one scale a channel; ExecuTorch calls it static int8 too, and activations stay float (1.4).

    Conformance: `assay.testing.check_transform`.
    """

    name = "vulkan-int8"
    module = "executorch.backends.vulkan.quantizer.vulkan_quantizer"

    def quantizer(self, kind: str) -> Any:
        """Of all layers that it knows."""
        from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
            VulkanQuantizer,
            get_symmetric_quantization_config,
        )

        del kind
        return VulkanQuantizer().set_global(get_symmetric_quantization_config())
