"""int8 as XNNPACK computes it: symmetric weights, by the quantizer that comes with ExecuTorch."""

from __future__ import annotations

from typing import Any

from assay.transforms.pt2e import Pt2eInt8


class XnnpackInt8(Pt2eInt8):
    """`xnnpack-int8` or `xnnpack-int8:static-per-channel`, `:static-per-tensor`, `:dynamic-per-channel`.

    Conformance: `assay.testing.check_transform`.
    """

    name = "xnnpack-int8"
    module = "executorch.backends.xnnpack.quantizer.xnnpack_quantizer"
    kinds = ("static-per-channel", "static-per-tensor", "dynamic-per-channel")

    def quantizer(self, kind: str) -> Any:
        """Of all layers that it knows."""
        from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
            XNNPACKQuantizer,
            get_symmetric_quantization_config,
        )

        config = get_symmetric_quantization_config(
            is_per_channel=kind.endswith("channel"), is_dynamic=kind.startswith("dynamic")
        )
        return XNNPACKQuantizer().set_global(config)
