"""The engines of the torch backend: one class, and how its callable is made for each compiler."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from assay.backends.check_inputs import check_inputs
from assay.backends.placements import coarsest
from assay.backends.torch.cache import clean_folder, compiler_traces_removed
from assay.backends.torch.errors import torch_failure
from assay.backends.torch.inductor_config import INDUCTOR_CONFIG, checked_config
from assay.backends.torch.operators import NARROW, operators_of, unrounded_intermediates
from assay.backends.torch.tf32 import tf32_as_asked, tf32_defaults
from assay.backends.torch.warnings import without_deprecations
from assay.core.dtype import dtype_name
from assay.core.engine_info import EngineInfo
from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering
from assay.models.program import Program, open_program, save_program
from assay.ports import Tensor, Tensors

_PROGRAM = "program.pt2"
_PACKAGE = "package.pt2"
_TRACED_CALLS = 5

Call = Callable[..., Any]


class TorchEngine:
    """`call` takes what `Program.arguments` gives. Raises ValueError for inputs that are not what the program takes."""

    def __init__(
        self, program: Program, call: Call, options: dict[str, Option], *, package: Path | None = None, code: str = ""
    ) -> None:
        self._program, self._call, self._options = program, call, options
        self._package, self._code = package, code
        self._wide = options["precision"] == "float64"

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """In float64 every floating output is float64; inputs are widened as they are given."""
        import torch

        from assay.onnx_to_torch.dtypes import to_numpy

        check_inputs(tensors, self._program.inputs)
        fed = {name: _widened(array) for name, array in tensors.items()} if self._wide else tensors
        with _translated(), torch.no_grad(), _threads(self._options), tf32_as_asked(self._options):
            args, kwargs = _to(self._program.arguments(fed), self._options)
            results = self._program.results(self._call(*args, **kwargs))
            return {name: to_numpy(value) for name, value in results.items()}

    def device_call(self, tensors: Tensors) -> Callable[[], float] | None:
        """On a CUDA device: one call on tensors that lie there, timed by two events on torch's stream. None on the CPU."""
        if self._options["device"] == "cpu":
            return None
        import torch

        check_inputs(tensors, self._program.inputs)
        fed = {name: _widened(array) for name, array in tensors.items()} if self._wide else tensors
        event: Any = torch.cuda.Event
        with _translated():
            args, kwargs = _to(self._program.arguments(fed), self._options)
            begin, end = event(enable_timing=True), event(enable_timing=True)

        def timed() -> float:
            with _translated(), torch.no_grad(), tf32_as_asked(self._options):
                begin.record()
                self._call(*args, **kwargs)
                end.record()
                end.synchronize()
                return float(begin.elapsed_time(end)) / 1e3

        return timed

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """By torch's profiler, with the device's kernels where there is one."""
        from torch.profiler import ProfilerActivity, profile

        self.run(tensors)  # compiles what is compiled at the first call
        on_device = [] if self._options["device"] == "cpu" else [ProfilerActivity.CUDA]
        with profile(activities=[ProfilerActivity.CPU, *on_device]) as taken:
            for _ in range(_TRACED_CALLS):
                self.run(tensors)
        taken.export_chrome_trace(str(folder / "torch.json"))

    def save(self, folder: Path) -> None:
        """The exported program; for a package compiled ahead of time that package besides, which alone is run."""
        program = self._program
        save_program(program.exported, folder / _PROGRAM, program.inputs, [spec.name for spec in program.outputs])
        if self._package is not None:
            shutil.copyfile(self._package, folder / _PACKAGE)

    def facts(self) -> EngineInfo:
        """Operators of the exported graph with the types of their results; of compiled engines the kernels that were
        generated and the library calls between them."""
        import torch

        from assay.backends.torch.code import kernels

        graph = operators_of(self._program, str(self._options["device"]), wide=self._wide)
        placements = kernels(self._code, str(self._options["device"])) or graph
        return EngineInfo(
            backend_version=str(torch.__version__),
            precision="float64" if self._wide else coarsest(graph),
            placements=placements,
            options={name: str(value) for name, value in self._options.items()},
            numeric_defaults=unrounded_intermediates(graph, self._options)
            + tf32_defaults(self._options, ((placement.operator, placement.precision) for placement in graph)),
        )


def lowered(program: Program, options: dict[str, Option]) -> TorchEngine:
    """Compiled now where the options say so."""
    if options["compiler"] == "aot-inductor":
        folder = Path(tempfile.mkdtemp(prefix="aoti-"))
        try:
            _compile_ahead(program, folder / _PACKAGE, options)
            engine = _packaged(program, folder / _PACKAGE, options)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, RuntimeError | NotImplementedError):
                raise torch_failure(error) from error
            raise
        weakref.finalize(engine, shutil.rmtree, folder, ignore_errors=True)
        return engine
    return _from_program(program, options)


def loaded(folder: Path, options: dict[str, Option]) -> TorchEngine:
    """From the files of `TorchEngine.save`."""
    program = open_program(folder / _PROGRAM)
    if options["compiler"] != "aot-inductor":
        return _from_program(program, options)
    try:
        return _packaged(program, folder / _PACKAGE, options)
    except RuntimeError as error:
        text = " ".join(str(error).split())[:300]
        raise InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library="torch", error=text)) from error


def _from_program(program: Program, options: dict[str, Option]) -> TorchEngine:
    import torch

    if options["precision"] == "float64":
        from assay.backends.torch.float64 import widened_module

        module: Any = widened_module(_moved(program, options))
        return TorchEngine(program, module, options)
    from assay.backends.torch.code import compiled
    from assay.backends.torch.state import restoring

    exported = _moved(program, options)
    module = exported.module()
    restored = restoring(module, exported)
    if options["compiler"] == "eager":
        return TorchEngine(program, restored(module), options)
    dynamic = any(isinstance(size, str) for spec in program.inputs for size in spec.shape)
    try:
        with _compiling(options):
            args, kwargs = _to(compile_inputs(program), options)
            call, code = compiled(module, args, kwargs, restored, dynamic=dynamic)
    except (RuntimeError, NotImplementedError, torch._dynamo.exc.TorchDynamoException) as error:
        raise torch_failure(error) from error
    return TorchEngine(program, call, options, code=code)


def _compile_ahead(program: Program, package: Path, options: dict[str, Option]) -> None:
    import torch._inductor

    with _compiling(options):
        torch._inductor.aoti_compile_and_package(_moved(program, options), package_path=str(package))


def _packaged(program: Program, package: Path, options: dict[str, Option]) -> TorchEngine:
    """The package is our own: it was compiled in this job, and it is native code."""
    import torch._inductor

    from assay.backends.torch.code import package_code
    from assay.backends.torch.state import reloading

    if not package.is_file():
        raise Lowering(noted(BackendCode.ENGINE_FILE_MISSING, file=package.name))
    with _compiling(options):
        call = torch._inductor.aoti_load_package(str(package))
        exported = _moved(program, options)
    return TorchEngine(program, reloading(call, exported), options, package=package, code=package_code(package))


def _moved(program: Program, options: dict[str, Option]) -> Any:
    if options["device"] == "cpu":
        return program.exported
    from torch.export.passes import move_to_device_pass

    return move_to_device_pass(program.exported, _device(options))


@contextmanager
def _translated() -> Iterator[None]:
    """What torch raises while it runs, as what it says."""
    try:
        yield
    except (AssertionError, RuntimeError) as error:  # a guard of the program is an assertion
        raise torch_failure(error) from error


def _device(options: dict[str, Option]) -> str:
    """With the number of a CUDA device: a tracer (2.11) takes "cuda" for another device than that of its tensors."""
    return "cuda:0" if options["device"] == "cuda" else str(options["device"])


def _to(arguments: Any, options: dict[str, Option]) -> Any:
    if options["device"] == "cpu":
        return arguments
    from torch.utils import _pytree

    return _pytree.tree_map(lambda leaf: leaf.to(_device(options)), arguments)


def compile_inputs(program: Program) -> Any:
    """Positional and named arguments to compile with: those that the program was exported with, since it may take no smaller
    ones; of one that keeps none, ones."""
    return program.exported.example_inputs or program.arguments(_ones(program))


def _ones(program: Program) -> dict[str, Tensor]:
    """Two where any number is good, which no compiler takes for a constant."""
    from assay.core.dtype import numpy_dtype

    sizes: dict[str, int] = {}
    for spec in program.inputs:
        for size in spec.shape:
            if isinstance(size, str):
                sizes.setdefault(size, 2)
    return {
        spec.name: np.ones([sizes[dim] if isinstance(dim, str) else dim for dim in spec.shape]).astype(
            numpy_dtype(spec.dtype)
        )
        for spec in program.inputs
    }


def _widened(array: Tensor) -> Tensor:
    return array.astype(np.float64) if dtype_name(array.dtype) in NARROW else array


@contextmanager
def _threads(options: dict[str, Option]) -> Iterator[None]:
    """torch keeps the number for the whole process: it is put back."""
    import torch

    before, threads = torch.get_num_threads(), int(options["threads"])
    if before == threads:
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _compiling(options: dict[str, Option]) -> Iterator[None]:
    """One compiler at a time and no pool of processes, which would outlive the job. Of what torch warns while it compiles its own
    deprecations are left out: no model can change them."""
    import torch
    from torch._inductor import config

    clean_folder()
    settings = checked_config(str(options[INDUCTOR_CONFIG.name]))
    settings |= {"compile_threads": 1, "emulate_precision_casts": options["emulate_precision_casts"] is True}
    quiet = without_deprecations()
    with (
        torch.no_grad(),
        _threads(options),
        config.patch(settings),
        tf32_as_asked(options),
        quiet,
        compiler_traces_removed(),
    ):
        yield
