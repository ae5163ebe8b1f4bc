"""TensorRT 10.x: types are flags of the builder, or the model's own in a strongly typed network."""

from __future__ import annotations

from typing import Any

from assay.backends.tensorrt.api8 import set_flags
from assay.backends.tensorrt.api11 import require_carried
from assay.backends.tensorrt.flags import bit
from assay.backends.tensorrt.precision import Carried
from assay.backends.tensorrt.settings import Settings


class Api10:
    """EXPLICIT_BATCH is still there and means nothing: the batch is always explicit."""

    generation = "10"

    def network_flags(self, trt: Any, settings: Settings) -> int:
        """Strongly typed where the flow says so."""
        return bit(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED) if settings.strongly_typed else 0

    def set_precision(self, trt: Any, config: Any, settings: Settings, carried: Carried) -> None:
        """Flags for types are refused by the builder of a strongly typed network."""
        if settings.strongly_typed:
            require_carried(trt, config, settings.precision, carried)
        else:
            set_flags(trt, config, settings.precision, carried)

    def device_bytes(self, built: Any) -> int:
        """The second is there by 10.5."""
        return int(built.device_memory_size_v2 if hasattr(built, "device_memory_size_v2") else built.device_memory_size)
