"""The command lines of trtexec, which version it is, and what its timings may be compared with.

11.x took the flags for types away and turned CUDA graphs and spinning on and data transfers off: a timing of 10 beside one of 11 looks
like a speed-up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay.backends.tensorrt.precision import BF16, FP8, FP16, INT8, TF32
from assay.backends.tensorrt.settings import Settings
from assay.core.flow import Sizes, dimension_key
from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported

_BANNER = re.compile(r"\[TensorRT v(\d+)\]")
_FLAGS = {FP16: "--fp16", BF16: "--bf16", INT8: "--int8", FP8: "--fp8"}
Dims = dict[str, Sizes]


class Mode(msgspec.Struct, frozen=True):
    """Two timings of trtexec may be compared where all of this is the same (and the version, the batch and the shapes)."""

    cuda_graph: bool
    spin_wait: bool
    data_transfers: bool
    streams: int = 1
    warmup_ms: int = 200
    duration_s: int = 3


def version_of(text: str) -> tuple[int, int, int]:
    """Of any output of trtexec: v8601 is 8.6.1, v101600 is 10.16.0. (0, 0, 0) where there is no banner."""
    match = _BANNER.search(text)
    if match is None:
        return (0, 0, 0)
    digits = int(match.group(1))
    if digits < 10_000:
        return (digits // 1000, digits // 100 % 10, digits % 100)
    return (digits // 10_000, digits // 100 % 100, digits % 100)


def mode_of(arguments: Sequence[str], major: int) -> Mode:
    """What a command line of that major version times."""
    settings = dict(argument.partition("=")[::2] for argument in arguments)
    newer = major >= 11
    return Mode(
        cuda_graph="--noCudaGraph" not in settings if newer else "--useCudaGraph" in settings,
        spin_wait="--noSpinWait" not in settings if newer else "--useSpinWait" in settings,
        data_transfers="--includeDataTransfers" in settings if newer else "--noDataTransfers" not in settings,
        streams=int(settings.get("--infStreams") or settings.get("--streams") or 1),
        warmup_ms=int(settings.get("--warmUp") or 200),
        duration_s=int(settings.get("--duration") or 3),
    )


def build_command(
    program: str, model: Path, plan: Path, inputs: Sequence[TensorSpec], settings: Settings, dims: Dims, major: int
) -> list[str]:
    """The command that builds, and writes plan and layers. Raises Unsupported for a type that the version has no flag for;
    since 11 the model has to carry it."""
    command = [program, f"--onnx={model}", f"--saveEngine={plan}", "--skipInference", "--profilingVerbosity=detailed"]
    command += [
        f"--exportLayerInfo={plan.with_suffix('.layers.json')}",
        f"--builderOptimizationLevel={settings.optimization_level}",
    ]
    if settings.precision != TF32:
        command.append("--noTF32")
    flag = _FLAGS.get(settings.precision)
    if flag and not settings.strongly_typed and major < 11:
        if settings.precision == BF16 and major < 10:
            raise Unsupported(noted(BackendCode.NO_FLAG, library="trtexec", version=str(major), flag=flag))
        command.append(flag)
    if settings.strongly_typed and major == 10:
        command.append("--stronglyTyped")
    if settings.workspace_mib:
        command.append(f"--memPoolSize=workspace:{settings.workspace_mib}")
    if settings.version_compatible:
        command.append("--versionCompatible")
    if settings.timing_cache:
        command.append(f"--timingCacheFile={settings.timing_cache}")
    if settings.sparse_weights:
        command.append("--sparsity=enable")
    return command + _shapes(inputs, dims)


def run_command(
    program: str, plan: Path, inputs: Sequence[TensorSpec], shapes: Mapping[str, Sequence[int]], settings: Settings
) -> list[str]:
    """The command that runs a plan on the files `inputs.0`, `inputs.1` ... of the working folder. Raises Unsupported for a
    name that its lists cannot hold."""
    for spec in inputs:
        if set(spec.name) & set(",'"):
            raise Unsupported(noted(BackendCode.NAME_NOT_TAKEN, library="trtexec", input=spec.name))
    command = [program, f"--loadEngine={plan}"]
    if inputs:
        command.append(
            "--loadInputs=" + ",".join(f"{tensor_spec.name}:{input_file(at)}" for at, tensor_spec in enumerate(inputs))
        )
    dynamic = [spec.name for spec in inputs if not all(isinstance(size, int) for size in spec.shape)]
    if dynamic:
        shape_texts = (f"{name}:{'x'.join(str(size) for size in shapes[name])}" for name in dynamic)
        command.append("--shapes=" + ",".join(shape_texts))
    if settings.version_compatible:
        command.append("--versionCompatible")
    return command


def input_file(place: int) -> str:
    """Where the values of that input lie, in the working folder."""
    return f"inputs.{place}"


def once() -> list[str]:
    """One inference, and its tensors as they are in files: `--exportOutput` writes six digits."""
    return ["--iterations=1", "--warmUp=0", "--duration=0", "--dumpRawBindingsToFile"]


def timed(seconds: int, times: str, profile: str, major: int) -> list[str]:
    """Inference for so long, with the seconds of each, and of each layer in a run of its own."""
    apart = ["--separateProfileRun"] if major < 11 else []
    return [f"--duration={seconds}", f"--exportTimes={times}", f"--exportProfile={profile}", *apart]


def _shapes(inputs: Sequence[TensorSpec], dims: Dims) -> list[str]:
    dynamic = [spec for spec in inputs if not all(isinstance(size, int) for size in spec.shape)]
    if not dynamic:
        return []
    flags = []
    for place, name in enumerate(("minShapes", "optShapes", "maxShapes")):
        sizes = (
            "x".join(
                str(size if isinstance(size, int) else dims[dimension_key(tensor_spec.name, axis, size)][place])
                for axis, size in enumerate(tensor_spec.shape)
            )
            for tensor_spec in dynamic
        )
        flags.append(
            f"--{name}="
            + ",".join(f"{tensor_spec.name}:{size}" for tensor_spec, size in zip(dynamic, sizes, strict=True))
        )
    return flags
