"""Static int8 as Core ML reads it (iOS 17 and newer), by the quantizer that comes with ExecuTorch."""

from __future__ import annotations

from typing import Any

from assay.transforms.pt2e import Pt2eInt8


class CoremlInt8(Pt2eInt8):
    """`coreml-int8`: symmetric, weights of one scale a channel.

    Conformance: `assay.testing.check_transform`.
    """

    name = "coreml-int8"
    module = "executorch.backends.apple.coreml.quantizer"
    libraries = ("torchao", "executorch", "coremltools", "torch")

    def quantizer(self, kind: str) -> Any:
        """Of all layers that it knows, its patterns cut down to those that the program can have."""
        import torch
        from coremltools.optimize.torch.quantization import LinearQuantizerConfig

        from assay.transforms.coreml_quantizer_patches import quick_quantizer

        del kind
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
        return quick_quantizer(config)
