"""From an ONNX file to a serialized engine, on what 8.6, 10 and 11 have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.backends.onnx_loader import Signature
from assay.backends.tensorrt.api import Api
from assay.backends.tensorrt.log_lines import Listener, failure
from assay.backends.tensorrt.precision import carried_by
from assay.backends.tensorrt.settings import Settings
from assay.core.flow import Sizes, dimension_key
from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, NotRunnable, OutOfMemory, Unsupported

if TYPE_CHECKING:
    from onnx import ModelProto

Dims = dict[str, Sizes]
"""By `dimension_key`."""


def built(
    trt: Any,
    api: Api,
    path: Path,
    proto: ModelProto,
    signature: Signature,
    settings: Settings,
    dims: Dims,
    listener: Listener,
) -> bytes:
    """The plan. Raises what the words of the log make of a failure, Unsupported for what the version cannot express."""
    builder = _builder(trt, listener)
    network = builder.create_network(api.network_flags(trt, settings))
    parser = trt.OnnxParser(network, listener.logger)
    # By path, so that external data is found beside the file.
    if not parser.parse_from_file(str(path)):
        raise parse_failure(parser, listener)
    config = builder.create_builder_config()
    api.set_precision(trt, config, settings, carried_by(proto))
    _configure(trt, config, settings)
    profile = optimization_profile(builder, signature.inputs, dims)
    if profile is not None:
        config.add_optimization_profile(profile)
    cache = _timing_cache(config, settings.timing_cache)
    plan = builder.build_serialized_network(network, config)
    if plan is None:
        raise failure(listener.lines, "building")
    if cache is not None:
        Path(settings.timing_cache).write_bytes(memoryview(config.get_timing_cache().serialize()))
    return bytes(memoryview(plan))


def _builder(trt: Any, listener: Listener) -> Any:
    """8.6 raises TypeError where there is no device: the factory gave null."""
    try:
        builder = trt.Builder(listener.logger)
    except TypeError as error:
        raise NotRunnable(noted(BackendCode.NO_DEVICE, device="CUDA", error=str(error))) from error
    builder.error_recorder = listener.recorder
    return builder


def parse_failure(parser: Any, listener: Listener) -> Lowering | MemoryError:
    """The parser's own errors: each knows its node by number, since 10 also by name and operator."""
    if parser.num_errors == 0:
        return failure(listener.lines, "parsing")
    error = parser.get_error(0)
    code = str(getattr(error.code(), "name", error.code())).rpartition(".")[2]
    operator = str(error.node_operator()) if hasattr(error, "node_operator") else ""
    name = str(error.node_name()) if hasattr(error, "node_name") else str(error.node())
    words = " ".join(str(error.desc()).split())
    at = noted(BackendCode.AT_NODE, operator=operator or "node", node=name, error=words)
    note = noted(BackendCode.PARSER_SAYS, library="TensorRT", code=code, error=at)
    if code == "MEM_ALLOC_FAILED":
        return OutOfMemory(note)
    if code.startswith("UNSUPPORTED"):
        return Unsupported(note, node=name)
    if code.startswith("INVALID") or code == "MODEL_DESERIALIZE_FAILED":
        return InvalidModel(note, node=name)
    return Lowering(note, node=name)


def _configure(trt: Any, config: Any, settings: Settings) -> None:
    if settings.workspace_mib:
        config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, settings.workspace_mib << 20)
    config.builder_optimization_level = settings.optimization_level
    # Without it the inspector tells names only.
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    if settings.version_compatible:
        config.set_flag(trt.BuilderFlag.VERSION_COMPATIBLE)
    if settings.sparse_weights:
        config.set_flag(trt.BuilderFlag.SPARSE_WEIGHTS)


def optimization_profile(builder: Any, inputs: tuple[TensorSpec, ...], dims: Dims) -> Any:
    """Least, usual and most of every symbolic dimension; None where all are fixed. Raises as `require_sizes` does."""
    dynamic = [spec for spec in inputs if not all(isinstance(size, int) for size in spec.shape)]
    if not dynamic:
        return None
    require_sizes(inputs, dims)
    profile = builder.create_optimization_profile()
    for spec in dynamic:
        least, usual, most = (
            tuple(
                size if isinstance(size, int) else dims[dimension_key(spec.name, axis, size)][place]
                for axis, size in enumerate(spec.shape)
            )
            for place in range(3)
        )
        profile.set_shape(spec.name, least, usual, most)
    return profile


def require_sizes(inputs: tuple[TensorSpec, ...], dims: Dims) -> None:
    """Raises Unsupported for a symbol whose sizes nobody knows: TensorRT builds for a range, and guessing one would decide
    what is tested."""
    for spec in inputs:
        keys = [
            dimension_key(spec.name, axis, str(size)) for axis, size in enumerate(spec.shape) if isinstance(size, str)
        ]
        missing = next((key for key in keys if key not in dims), "")
        if missing:
            raise Unsupported(noted(BackendCode.RANGE_NOT_NAMED, dimension=missing, input=spec.name))


def format_sizes(dims: Dims) -> dict[str, str]:
    """The profile as options of the facts: `bounds.height` is `64..160, 96 best`."""
    return {
        f"{'size' if least == most else 'bounds'}.{name}": str(most)
        if least == most
        else f"{least}..{most}, {usual} best"
        for name, (least, usual, most) in dims.items()
    }


def _timing_cache(config: Any, path: str) -> Any:
    """Read where the file is there, else begun: with it a second build takes the first one's tactics."""
    if not path:
        return None
    file = Path(path)
    cache = config.create_timing_cache(file.read_bytes() if file.is_file() else b"")
    config.set_timing_cache(cache, ignore_mismatch=False)
    return cache
