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
    arguments = ("static-per-channel", "static-per-tensor", "dynamic-per-channel")
    uncalibrated = ("dynamic-per-channel",)

    def quantizer(self, kind: str) -> Any:
        """Of all layers that it knows."""
        from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import get_symmetric_quantization_config

        config = get_symmetric_quantization_config(
            is_per_channel=kind.endswith("channel"), is_dynamic=kind.startswith("dynamic")
        )
        return _quantizer_of_floats().set_global(config)


def _quantizer_of_floats() -> Any:
    """Whole numbers stay whole (sizes, positions, indices). Executorch's own (1.4) makes floats of the numbers that are added to
    them, and puts what is concatenated on a grid whatever it is. A batch norm is looked for where there is one: the patterns of those
    that are being trained are traced again for each model, which takes 1.4 s."""
    import torch
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer
    from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

    aten = torch.ops.aten
    plain = {aten.add.Tensor: aten.add.Scalar, aten.mul.Tensor: aten.mul.Scalar}

    class Floats(XNNPACKQuantizer):  # type: ignore[misc]
        def transform_for_annotation(self, model: Any) -> Any:
            for node in model.graph.nodes:
                if node.target in plain and _is_other(node) and not isinstance(node.args[1], torch.fx.Node):
                    node.target = plain[node.target]
            return super().transform_for_annotation(model)

        def annotate(self, model: Any) -> Any:
            if not self.global_config.input_activation.is_dynamic and not _has_batch_norm(model):
                # As the first of these patterns does before it looks.
                model.graph.eliminate_dead_code()
                model.recompile()
                patterns = XNNPACKQuantizer.SUPPORTED_PATTERNS
                self.SUPPORTED_PATTERNS = [pattern for pattern in patterns if not pattern.is_qat]
            model = super().annotate(model)
            for node in model.graph.nodes:
                if _is_other(node):
                    node.meta.pop(Q_ANNOTATION_KEY, None)
            return model

    return Floats()


def _has_batch_norm(model: Any) -> bool:
    return any("batch_norm" in str(node.target) for node in model.graph.nodes)


def _is_other(node: Any) -> bool:
    """Whether its value is a tensor of another type than float32."""
    import torch

    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype != torch.float32
