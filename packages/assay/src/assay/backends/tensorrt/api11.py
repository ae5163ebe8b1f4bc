"""TensorRT 11.x: every network is strongly typed; a type that the model does not carry cannot be asked for."""

from __future__ import annotations

from typing import Any

from assay.backends.tensorrt.flags import set_tf32
from assay.backends.tensorrt.precision import TF32, Carried, require_types
from assay.backends.tensorrt.settings import Settings


class Api11:
    """No flags for types, no calibrators, no precision of a layer."""

    generation = "11"

    def network_flags(self, trt: Any, settings: Settings) -> int:  # noqa: ARG002  the others need them
        """None is needed, whatever the flow says."""
        return 0

    def set_precision(self, trt: Any, config: Any, settings: Settings, carried: Carried) -> None:
        """Raises Unsupported where the model's types are not those of the flow."""
        require_carried(trt, config, settings.precision, carried)

    def device_bytes(self, built: Any) -> int:
        """The first is gone."""
        return int(built.device_memory_size_v2)


def require_carried(trt: Any, config: Any, precision: str, carried: Carried) -> None:
    """In a strongly typed network only TF32 is left to say; the rest must be in the model."""
    require_types(carried, precision, trt.__version__)
    set_tf32(trt, config, allowed=precision == TF32)
