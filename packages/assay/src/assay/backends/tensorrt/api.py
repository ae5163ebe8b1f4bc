"""Which of the three interfaces an installed tensorrt has: told by what it has, not by its number, since 10.x grew."""

from __future__ import annotations

from typing import Any, Protocol

from assay.backends.tensorrt.precision import Carried
from assay.backends.tensorrt.settings import Settings


class Api(Protocol):
    """What differs from version to version."""

    generation: str

    def network_flags(self, trt: Any, settings: Settings) -> int:
        """The argument of `create_network`."""
        ...

    def set_precision(self, trt: Any, config: Any, settings: Settings, carried: Carried) -> None:
        """Raises Unsupported for what this version, or this model under it, cannot express."""
        ...

    def device_bytes(self, built: Any) -> int:
        """Device memory that a context needs."""
        ...


def api_of(trt: Any) -> Api:
    """11 has no builder flag for a type; 8.6 has no strongly typed networks; 10 has both."""
    from assay.backends.tensorrt.api8 import Api8
    from assay.backends.tensorrt.api10 import Api10
    from assay.backends.tensorrt.api11 import Api11

    if not hasattr(trt.BuilderFlag, "FP16"):
        return Api11()
    return Api10() if hasattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED") else Api8()
