"""TensorRT 8.6: the batch is explicit only where it is asked for, and types are flags of the builder."""

from __future__ import annotations

from typing import Any

from assay.backends.tensorrt.flags import bit, set_tf32
from assay.backends.tensorrt.precision import BF16, FP8, FP16, INT8, TF32, Carried, require_quantized
from assay.backends.tensorrt.settings import Settings
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported

FLAGS = {FP16: "FP16", BF16: "BF16", INT8: "INT8", FP8: "FP8"}


class Api8:
    """Without EXPLICIT_BATCH the ONNX parser of 8.6 refuses every network."""

    generation = "8"

    def network_flags(self, trt: Any, settings: Settings) -> int:
        """Explicit batch, always."""
        if settings.strongly_typed:
            raise Unsupported(noted(BackendCode.NO_STRONG_TYPES, version=trt.__version__))
        return bit(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)

    def set_precision(self, trt: Any, config: Any, settings: Settings, carried: Carried) -> None:
        """A flag allows a type; TensorRT chooses per layer."""
        set_flags(trt, config, settings.precision, carried)

    def device_bytes(self, built: Any) -> int:
        """An int32 in the documentation of 8.6: large engines wrap."""
        return int(built.device_memory_size)


def set_flags(trt: Any, config: Any, precision: str, carried: Carried) -> None:
    """The builder flag of that type. Raises Unsupported where the version has none."""
    require_quantized(carried, precision)
    set_tf32(trt, config, allowed=precision == TF32)
    name = FLAGS.get(precision)
    if name is None:
        return
    if not hasattr(trt.BuilderFlag, name):
        raise Unsupported(noted(BackendCode.NO_FLAG, library="tensorrt", version=trt.__version__, flag=name))
    config.set_flag(getattr(trt.BuilderFlag, name))
