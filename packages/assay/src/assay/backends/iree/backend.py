"""IREE: ONNX through torch-mlir, compiled for the CPU, its own virtual machine, Vulkan, or ahead of time for GPUs."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from assay.backends.availability import installed
from assay.backends.check_artifact import check_artifact
from assay.backends.check_inputs import check_inputs
from assay.backends.contraction import contracted
from assay.backends.cpu_features import check_processor
from assay.backends.flow_options import positive, resolve_options
from assay.backends.iree import trace
from assay.backends.iree.compile import (
    DEMOTION,
    SWITCHES,
    Target,
    between_phases,
    compiled,
    flags_of,
    imported,
    narrows_doubles,
)
from assay.backends.iree.errors import runtime_failure
from assay.backends.iree.phases import after_each_phase
from assay.backends.iree.runtime import TYPES, features_of, open_device, to_device, to_host
from assay.backends.iree.warnings import read_warnings
from assay.backends.onnx_loader import Signature, load_checked, refuse_types, signature_of
from assay.backends.placements import coarsest
from assay.backends.plain_code import iree_code
from assay.core.engine_info import EngineInfo, NumericDefault, Placement
from assay.core.flow import Flow, Option
from assay.core.native_warning import NativeWarning
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, Unsupported
from assay.models.files import file_digest
from assay.ports import Availability, OptionSpec, Tensor, Tensors

_ARTIFACT = "model.vmfb"
_DECLARED = "declared.json"
_LOCAL = "local"
_DRIVERS = {
    "llvm-cpu": _LOCAL,
    "vmvx": _LOCAL,
    "vulkan-spirv": "vulkan",
    "cuda": "cuda",
    "rocm": "hip",
    "metal-spirv": "metal",
}
# sm_90 and the names of its chips are refused by 3.13.
_ARCH = {"cuda": "sm_80", "rocm": "gfx942"}


class Declared(msgspec.Struct, frozen=True):
    """What the module does not tell: names and types, the target, and what it was divided into."""

    signature: Signature
    target: Target
    placements: tuple[Placement, ...]
    narrowed: bool = False
    digest: str = ""


class IREE:
    """Conformance: `assay.testing.check_backend`."""

    name = "iree"
    accepts = "onnx"
    dynamic = True
    options = (
        OptionSpec("target", "llvm-cpu", tuple(_DRIVERS), "what code is generated for"),
        OptionSpec(
            "cpu",
            "host",
            help='processor for llvm-cpu ("host", "generic", "znver4")',
            tried=("generic",),
            of_processor=True,
        ),
        OptionSpec("arch", "", help='GPU for cuda and rocm ("sm_80", "gfx942")'),
        OptionSpec("flags", "", help="flags of iree-compile, with a semicolon between two", tried=SWITCHES),
        OptionSpec("demote_f64_to_f32", True, help="doubles inside of the model in float32, as iree chooses"),
        OptionSpec("threads", 1, help="threads of one inference on the CPU"),
    )
    flows = (
        Flow(name="iree-llvm-cpu", backend="iree"),
        Flow(name="iree-vmvx", backend="iree", options={"target": "vmvx"}),
        Flow(
            name="iree-vulkan",
            backend="iree",
            options={"target": "vulkan-spirv"},
            device="vulkan",
            allowances=("vulkan-functions",),
        ),
        Flow(name="iree-cuda", backend="iree", options={"target": "cuda"}, device="cuda"),
        Flow(name="iree-rocm", backend="iree", options={"target": "rocm"}, device="rocm"),
        Flow(name="iree-metal", backend="iree", options={"target": "metal-spirv"}, device="metal"),
    )

    def availability(self) -> Availability:
        """From the package metadata, of compiler and runtime."""
        compiler = installed("iree-base-compiler", "iree", "iree")
        return compiler if not compiler.available else installed("iree-base-runtime", "iree", "iree")

    def platforms(self, flow: Flow) -> tuple[str, ...]:
        """Everywhere, but for Metal: no wheel of the runtime has its driver (3.13.0)."""
        return () if flow.device == "metal" else ("linux", "darwin", "win32")

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of its output."""
        return read_warnings(text)

    plain_packages = ("iree-base-compiler", "iree-base-runtime")

    def plain_code(self, flow: Flow) -> str:
        """Imported and compiled in one process."""
        options = resolve_options(self.options, flow)
        target = _target(options)
        doubles = () if options["demote_f64_to_f32"] else (f"{DEMOTION}=false",)
        return iree_code(target.backend, _driver(target, positive(options, "threads", flow)), (*target.flags, *doubles))

    def prepare(self) -> None:
        """Import compiler and runtime."""
        import iree.compiler.extras.onnx_importer
        import iree.runtime  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> IREEEngine:
        """Import, and compile in a process of its own. A device is not needed for it."""
        options = resolve_options(self.options, flow)
        threads = positive(options, "threads", flow)
        proto = load_checked(model)
        signature = signature_of(proto)
        refuse_types(signature, TYPES, "iree")
        target = _target(options)
        demoted = options["demote_f64_to_f32"] is True
        module, placements = compiled(proto, target, signature.opset, demoted=demoted)
        declared = Declared(signature, target, placements, demoted and narrows_doubles(proto))
        return IREEEngine(module, declared, options, threads)

    def after_each_pass(
        self,
        model: Path,
        flow: Flow,
        inputs: Tensors,
        folder: Path,  # noqa: ARG002  the port's
    ) -> list[tuple[str, Mapping[str, Tensor] | None]]:
        """By the phases of the compiler, which it can be stopped at."""
        options = resolve_options(self.options, flow)
        threads, proto, target = positive(options, "threads", flow), load_checked(model), _target(options)
        signature, demoted = signature_of(proto), options["demote_f64_to_f32"] is True

        def answers(module: bytes, target: Target) -> Mapping[str, Tensor] | None:
            try:
                return IREEEngine(module, Declared(signature, target, ()), options, threads).run(inputs)
            except (Lowering, InvalidModel, MemoryError):
                return None

        asked, bare = (
            msgspec.structs.replace(candidate, flags=flags_of(proto, candidate, demoted=demoted))
            for candidate in (target, _target({**options, "flags": ""}))
        )
        return after_each_phase(imported(proto), asked, bare, between_phases, answers)

    def load(self, folder: Path, flow: Flow) -> IREEEngine:
        """The module. Raises NotRunnable where its device is not here, or its code is for another processor."""
        options = resolve_options(self.options, flow)
        threads = positive(options, "threads", flow)
        declared = msgspec.json.decode((folder / _DECLARED).read_bytes(), type=Declared)
        check_artifact(folder / _ARTIFACT, declared.digest)
        engine = IREEEngine((folder / _ARTIFACT).read_bytes(), declared, options, threads)
        engine.ready()
        return engine


class IREEEngine:
    """One module and, from the first run on, a device and a context for it."""

    def __init__(self, module: bytes, declared: Declared, options: dict[str, Option], threads: int) -> None:
        self._module, self._declared, self._options, self._threads = module, declared, options, threads
        self._device: Any = None
        self._context: Any = None
        self._function: Any = None

    def ready(self) -> None:
        """Open the device and load the module into it. Raises NotRunnable, InvalidModel for a module it cannot load."""
        from iree import runtime

        if self._function is not None:
            return
        target = self._declared.target
        if target.driver == _LOCAL:
            check_processor("iree", features_of(self._module))
        device = open_device(_driver(target, self._threads), self._threads)
        instance = runtime.VmInstance()
        try:
            module = runtime.VmModule.copy_buffer(instance, self._module)
            hal = runtime.create_hal_module(instance, device)
            self._context = runtime.VmContext(instance, modules=[hal, module])
        except (RuntimeError, ValueError) as error:
            text = " ".join(str(error).split())[:400]
            raise InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library="iree", error=text)) from error
        self._device = device
        # The graph's own function: the others are its asynchronous twin and the initializers.
        name = next(
            function_name
            for function_name in module.function_names
            if "$" not in function_name and not function_name.startswith("__")
        )
        self._function = module.lookup_function(name)

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises ValueError for other inputs than declared, NotRunnable where there is no such device."""
        from iree import runtime

        inputs, outputs = self._declared.signature.inputs, self._declared.signature.outputs
        check_inputs(tensors, inputs)
        self.ready()
        feeds = runtime.VmVariantList(len(inputs))
        results = runtime.VmVariantList(len(outputs))
        try:
            for spec in inputs:
                feeds.push_ref(to_device(self._device, tensors[spec.name]))
            self._context.invoke(self._function, feeds, results)
            views = [results.get_as_object(i, runtime.HalBufferView) for i in range(len(outputs))]
            arrays = [to_host(self._device, view) for view in views]
        except (RuntimeError, ValueError) as error:
            raise runtime_failure(str(error)) from error
        return {spec.name: _declared(array, spec.dtype) for spec, array in zip(outputs, arrays, strict=True)}

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """One call, by IREE's own profiler. Raises Unsupported for a device that has a clock of its own."""
        target = self._declared.target
        if target.driver != _LOCAL:
            raise Unsupported(noted(BackendCode.PROFILE_IN_TICKS, driver=target.driver))
        self.run(tensors)
        with tempfile.TemporaryDirectory(prefix="assay-iree-") as place:
            module = Path(place) / _ARTIFACT
            module.write_bytes(self._module)
            trace.trace(module, self._function.name, tensors, self._declared.signature, self._threads, folder)

    def save(self, folder: Path) -> None:
        """One module for this kind of processor or device."""
        (folder / _ARTIFACT).write_bytes(self._module)
        declared = msgspec.structs.replace(self._declared, digest=file_digest(folder / _ARTIFACT))
        (folder / _DECLARED).write_bytes(msgspec.json.encode(declared))

    def facts(self) -> EngineInfo:
        """Placements are the dispatches of the module, in the type that each one's name ends with."""
        import importlib.metadata

        target = self._declared.target
        return EngineInfo(
            backend_version=importlib.metadata.version("iree-base-compiler"),
            precision=coarsest(self._declared.placements),
            placements=self._declared.placements,
            options={"target": target.backend, "flags": " ".join(target.flags), "threads": str(self._threads)},
            numeric_defaults=self._numeric_defaults(),
        )

    def _numeric_defaults(self) -> tuple[NumericDefault, ...]:
        """Sums are in the model's order, and nothing is demoted to half, unless flags ask for it (3.13), which none of ours does."""
        numeric_defaults: list[NumericDefault] = []
        if self._declared.target.backend == "llvm-cpu":
            features, placements = features_of(self._module), self._declared.placements
            numeric_defaults += contracted("--iree-llvmcpu-target-cpu", self._options["cpu"], features, placements)
        if self._declared.narrowed:
            numeric_defaults.append(
                NumericDefault(DEMOTION, "true", "narrowed-doubles", "demote_f64_to_f32", off=False)
            )
        return tuple(numeric_defaults)


def _declared(array: Tensor, declared: str) -> Tensor:
    """IREE's interface has no sign and no truth value (3.13): an integer is so many bits, a bool is an int8 that holds 0 or 1."""
    bits = {"bool": "int8"}.get(declared, declared.removeprefix("u"))
    return array.view(declared) if array.dtype.name == bits != declared else array


def _driver(target: Target, threads: int) -> str:
    """As the runtime names it: of the processor it has two."""
    if target.driver != _LOCAL:
        return target.driver
    return "local-sync" if threads == 1 else "local-task"


def _target(options: dict[str, Option]) -> Target:
    backend = str(options["target"])
    arch = str(options["arch"]) or _ARCH.get(backend, "")
    flags = {
        "llvm-cpu": (f"--iree-llvmcpu-target-cpu={options['cpu']}",),
        "cuda": (f"--iree-cuda-target={arch}",),
        "rocm": (f"--iree-rocm-target={arch}",),
    }
    flags_given = tuple(part for part in str(options["flags"]).split(";") if part)
    return Target(backend, _DRIVERS[backend], (*flags.get(backend, ()), *flags_given))
