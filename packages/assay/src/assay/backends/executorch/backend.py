"""ExecuTorch: portable kernels, and its delegates. What the wheel's runtime lacks is lowered and not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from assay.backends.artifact import read_artifact, read_record
from assay.backends.availability import installed
from assay.backends.check_inputs import check_bounds, check_inputs
from assay.backends.executorch.delegates import DELEGATES, taken_operators
from assay.backends.executorch.errors import load_failure, run_failure
from assay.backends.executorch.lower import Built, bounded, lowered, operators_of, quietly
from assay.backends.executorch.patches import import_runtime
from assay.backends.flow_options import positive, resolve_options
from assay.backends.placements import coarsest
from assay.backends.plain_code_torch import executorch_code
from assay.backends.torch.warnings import read_warnings
from assay.core.engine_info import EngineInfo, Placement
from assay.core.flow import Flow, Option
from assay.core.native_warning import NativeWarning
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import NotRunnable, Unsupported
from assay.models.program import open_program
from assay.models.torch_patches import quicken
from assay.ports import Availability, OptionSpec, Tensor, Tensors

_ARTIFACT = "model.pte"
_BUILT = "built.json"
UNDELEGATED = "undelegated"
PARTITIONER = "partitioner"


def _listed(option: Option) -> list[str]:
    return [part.strip() for part in str(option).split(";") if part.strip()]


def _flow(name: str, delegate: str, precision: str = "float32", transform: str = "", environment: str = "") -> Flow:
    return Flow(
        name=f"executorch-{name}",
        backend="executorch",
        options={"delegate": delegate},
        precision=precision,
        transforms=(transform,) if transform else (),
        environment=environment,
    )


class ExecuTorch:
    """Conformance: `assay.testing.check_backend`.

    `requires` is of the flow for TOSA alone, whose tools want older libraries than the rest.
    """

    name = "executorch"
    accepts = "torch"
    dynamic = True
    needs_sizes = True
    forkable = True
    requires = ("executorch==1.4.1", "torch==2.13.0", "torchao==0.18.0", "tosa-tools==2026.8.0", "ruamel.yaml.clib")
    options = (
        OptionSpec("delegate", "portable", tuple(DELEGATES), "who is offered the operators; the rest is portable"),
        OptionSpec(UNDELEGATED, "", help="operators that the delegate is not offered: gelu.default;mean.dim"),
        OptionSpec(
            "most", 32, help="upper bound of a dynamic size that the case names no sizes for; memory is planned for it"
        ),
        OptionSpec("threads", 1, help="threads of one inference"),
    )
    levels: tuple[Mapping[str, Option], ...] = ({"delegate": "portable"},)
    flows = (
        _flow("portable", "portable"),
        _flow("xnnpack", "xnnpack"),
        _flow("xnnpack-dynamic-int8-per-channel", "xnnpack-dynamic", "int8", "xnnpack-int8:dynamic-per-channel"),
        _flow("xnnpack-static-int8-per-channel", "xnnpack", "int8", "xnnpack-int8:static-per-channel"),
        _flow("xnnpack-static-int8-per-tensor", "xnnpack", "int8", "xnnpack-int8:static-per-tensor"),
        _flow("openvino", "openvino", "bfloat16"),
        _flow("vulkan", "vulkan"),
        _flow("vulkan-static-int8", "vulkan", "int8", "vulkan-int8"),
        _flow("coreml", "coreml", "float16"),
        _flow("coreml-static-int8", "coreml", "int8", "coreml-int8"),
        _flow("qnn", "qnn", "float16"),
        _flow("arm-tosa", "arm-tosa", environment="tosa"),
    )

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("executorch", "executorch", "executorch")

    def platforms(self, flow: Flow) -> tuple[str, ...]:
        """Those whose wheel has a runtime with the flow's delegate."""
        delegate = DELEGATES[str(flow.options["delegate"])]
        return ("linux", "darwin", "win32") if delegate.in_wheel else delegate.wheels

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of torch's exporter and of its own loggers."""
        return read_warnings(text)

    def prepare(self) -> None:
        """Import the compiler, the kernels of quantized operators, and the runtime."""
        with quietly():
            import executorch.exir
            import executorch.kernels.quantized
            import executorch.runtime  # noqa: F401
        quicken()

    def prepare_to_load(self) -> None:
        """Import the runtime and the kernels of quantized operators, which programs may call."""
        with quietly():
            import_runtime()
            import executorch.kernels.quantized  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> ExecuTorchEngine:
        """A delegate that takes nothing gives an engine all the same: its facts say so."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        delegate, most = str(options["delegate"]), positive(options, "most", flow)
        left_out = _listed(options[UNDELEGATED])
        opened = open_program(model)
        program, bounds = bounded(opened, flow, most, fixed=DELEGATES[delegate].fixed)
        built, artifact = lowered(program, delegate, bounds, left_out)
        if built.bounds != bounds:
            # It cannot have any size: then the usual one, not that of an example.
            program, bounds = bounded(opened, flow, most, fixed=True)
            built, artifact = lowered(program, delegate, bounds, left_out)
        return ExecuTorchEngine(built, artifact, options)

    def passes_run(self, model: Path, flow: Flow) -> tuple[str, ...]:
        """What the partitioner decides of each operator of the program."""
        options = resolve_options(self.options, flow)
        operators = operators_of(open_program(model))
        left_out = _listed(options[UNDELEGATED])
        taken = taken_operators(str(options["delegate"]))
        return tuple(
            f"{PARTITIONER}({operator})" for operator in taken if operator in operators and operator not in left_out
        )

    def after_passes(self, model: Path, flow: Flow, folder: Path) -> Path:  # noqa: ARG002  the port's
        """Raises Unsupported: a partitioned program is no ONNX graph."""
        raise Unsupported(noted(BackendCode.PASSES_NOT_SHOWN, library="ExecuTorch"), cause="other")

    def without_passes(self, flow: Flow, names: Sequence[str]) -> Flow:
        """By `undelegated`."""
        more = [name.removeprefix(f"{PARTITIONER}(").removesuffix(")") for name in names]
        listed = ";".join(dict.fromkeys([*_listed(flow.options.get(UNDELEGATED, "")), *more]))
        return msgspec.structs.replace(flow, options={**flow.options, UNDELEGATED: listed})

    plain_packages = ("executorch",)

    def plain_code(self, flow: Flow) -> str:
        """With portable kernels, or XNNPACK; "" for another delegate."""
        options = resolve_options(self.options, flow)
        return executorch_code(str(options["delegate"]), _listed(options[UNDELEGATED]))

    def load(self, folder: Path, flow: Flow) -> ExecuTorchEngine:
        """Raises NotRunnable where the runtime has not the delegate."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        built = read_record(folder / _BUILT, Built)
        engine = ExecuTorchEngine(built, read_artifact(folder / _ARTIFACT), options)
        engine.start()
        return engine


class ExecuTorchEngine:
    """A program and, once started, its one method."""

    def __init__(self, built: Built, artifact: bytes, options: dict[str, Option]) -> None:
        self._built, self._artifact, self._options = built, artifact, options
        self._method: Any = None

    def start(self) -> None:
        """Load the program into the runtime. Raises NotRunnable, Unsupported or InvalidModel."""
        from executorch.extension.pybindings import _portable_lib
        from executorch.runtime import Runtime

        runtime = Runtime.get()
        _check_runtime(self._built, self._artifact, runtime.backend_registry)
        _portable_lib._unsafe_reset_threadpool(self._options["threads"])
        try:
            # The runtime reads weights from these bytes for as long as the method lives: the engine keeps both.
            self._method = runtime.load_program(self._artifact).load_method("forward")
        except RuntimeError as error:
            raise load_failure(_ARTIFACT, error) from error

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises ValueError for another dtype or shape or an empty tensor, on which the runtime (1.4) ends the process;
        Unsupported for a size beyond the bounds."""
        from assay.onnx_to_torch.dtypes import from_numpy, to_numpy

        check_inputs(tensors, self._built.inputs)
        check_bounds(tensors, self._built.inputs, self._built.bounds)
        if self._method is None:
            self.start()
        feeds = [from_numpy(tensors[spec.name]).contiguous() for spec in self._built.inputs]
        try:
            answers = self._method.execute(feeds)
        except RuntimeError as error:
            raise run_failure(error) from error
        # to_numpy copies: the runtime answers with views of memory that the next run writes to.
        return {spec.name: to_numpy(answer) for spec, answer in zip(self._built.outputs, answers, strict=True)}

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """An ETDump of one call, for `executorch.devtools.Inspector`. Raises Unsupported where the runtime was built without its event
        tracer, as that of the wheel is (1.4.1)."""
        from executorch.extension.pybindings import _portable_lib

        from assay.onnx_to_torch.dtypes import from_numpy

        self.run(tensors)
        module = _portable_lib._load_for_executorch_from_buffer(self._artifact, enable_etdump=True)
        module.forward([from_numpy(tensors[spec.name]).contiguous() for spec in self._built.inputs])
        module.write_etdump_result_to_file(str(folder / "executorch.etdp"))
        if not any(folder.iterdir()):
            lacking = "EXECUTORCH_ENABLE_EVENT_TRACER"
            raise Unsupported(noted(BackendCode.NO_PROFILER, library="executorch", version=_version(), lacking=lacking))

    def save(self, folder: Path) -> None:
        """The .pte, and the names, bounds and placements that it does not hold."""
        (folder / _ARTIFACT).write_bytes(self._artifact)
        (folder / _BUILT).write_bytes(msgspec.json.encode(self._built))

    def facts(self) -> EngineInfo:
        """`delegated` counts operators; 0 too where the artifact does not name the delegate that the build claims."""
        version = _version()
        bounds = {f"bounds.{symbol}": f"{least}..{most}" for symbol, (least, most) in self._built.bounds.items()}
        delegated = self._built.delegated
        if delegated and DELEGATES[self._built.delegate].id.encode() not in self._artifact:
            delegated = 0
        return EngineInfo(
            backend_version=version,
            precision=_precision(self._built),
            placements=_placements(self._built),
            undelegated=self._built.undelegated,
            delegated=delegated,
            options={**{name: str(value) for name, value in self._options.items()}, **bounds},
        )


@cache
def _version() -> str:
    """Of the one that this process has imported: the metadata are not read again for each small case."""
    return ExecuTorch().availability().version


def _check_runtime(built: Built, artifact: bytes, registry: Any) -> None:
    delegate = DELEGATES[built.delegate]
    if not built.delegated or delegate.id.encode() not in artifact:
        return
    if delegate.id not in registry.registered_backend_names:
        raise NotRunnable(
            noted(
                BackendCode.DELEGATE_NOT_IN_RUNTIME,
                version=_version(),
                delegate=delegate.id,
            )
        )
    if not registry.is_available(delegate.id):
        raise NotRunnable(noted(BackendCode.DELEGATE_NOT_HERE, delegate=delegate.id))


def _placements(built: Built) -> tuple[Placement, ...]:
    """What a delegate took runs in the type that it rounds every float to, where it does."""
    delegate = DELEGATES[built.delegate]
    inner = delegate.inner() if built.delegated else ""
    return tuple(
        msgspec.structs.replace(placement, precision=inner)
        if inner and placement.device == delegate.id and placement.precision == "float32"
        else placement
        for placement in built.placements
    )


def _precision(built: Built) -> str:
    """The coarsest type of the operators; what a delegate is known to do to all of them counts too."""
    kinds = {placement.precision for placement in built.placements if placement.role == "compute"}
    if "int8" in kinds:
        return "int8"
    inner = DELEGATES[built.delegate].inner() if built.delegated else ""
    return coarsest([*built.placements, Placement("", "", inner, 1)]) or "float32"
