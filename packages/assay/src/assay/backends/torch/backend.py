"""PyTorch: eager, in float64 as the oracle of torch models, compiled by Inductor at run time or ahead of time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.backends.availability import installed
from assay.backends.flow_options import positive, resolve_options
from assay.backends.plain_code_torch import torch_code
from assay.backends.processor_limits import ATEN, ONEDNN
from assay.backends.torch.cache import own_folder
from assay.backends.torch.inductor_config import INDUCTOR_CONFIG, read_config
from assay.backends.torch.tf32 import OPTION as TF32
from assay.backends.torch.warnings import read_warnings
from assay.core.flow import Flow, Option
from assay.core.native_warning import NativeWarning
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unavailable, Unsupported, UsageError
from assay.ports import Availability, OptionSpec, Tensor, Tensors

if TYPE_CHECKING:
    from assay.backends.torch.engine import TorchEngine


class Torch:
    """Conformance: `assay.testing.check_backend`."""

    name = "torch"
    accepts = "torch"
    dynamic = True
    options = (
        OptionSpec("compiler", "eager", ("eager", "inductor", "aot-inductor"), "what turns the graph into kernels"),
        OptionSpec("precision", "model", ("model", "float64"), "the program's own types, or float64 throughout"),
        OptionSpec(
            "emulate_precision_casts",
            False,
            help="Inductor rounds between fused operators as the program does (sixteen bits)",
        ),
        INDUCTOR_CONFIG,
        OptionSpec("threads", 1, help="threads inside one operator"),
        OptionSpec("device", "cpu", ("cpu", "cuda"), "where it is compiled for and runs"),
        TF32,
        ATEN,
        ONEDNN,
    )
    flows = (
        Flow(name="torch-eager", backend="torch"),
        Flow(name="torch-eager-f64", backend="torch", options={"precision": "float64"}, precision="float64"),
        Flow(name="torch-inductor", backend="torch", options={"compiler": "inductor"}),
        Flow(name="torch-aot-inductor", backend="torch", options={"compiler": "aot-inductor"}),
        Flow(name="torch-eager-cuda", backend="torch", device="cuda"),
        Flow(name="torch-inductor-cuda", backend="torch", options={"compiler": "inductor"}, device="cuda"),
        Flow(name="torch-aot-inductor-cuda", backend="torch", options={"compiler": "aot-inductor"}, device="cuda"),
    )

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("torch", "torch", "torch")

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of its loggers and of its compiler."""
        return read_warnings(text)

    def prepare(self) -> None:
        """Import torch. What Inductor compiles is kept for the next job, in its own folder: it remembers where its compiled
        headers lie, and a worker's temporary files are gone after each job."""
        own_folder()
        import torch  # noqa: F401

    plain_packages = ("torch",)

    def plain_code(self, flow: Flow) -> str:
        """Compiled as the flow says; "" of another device than the processor, and of float64."""
        options = resolve_options(self.options, flow)
        if flow.device != "cpu" or options["device"] != "cpu" or options["precision"] != "model":
            return ""
        config = read_config(str(options["inductor_config"]), flow.name)
        config |= {"emulate_precision_casts": True} if options["emulate_precision_casts"] else {}
        return torch_code(str(options["compiler"]), positive(options, "threads", flow), config)

    def lower(self, model: Path, flow: Flow) -> TorchEngine:
        """An exported program for this flow: compiled now where the flow compiles. Raises Unavailable, with the command
        that installs it, where the C++ compiler that Inductor calls is missing."""
        from assay.backends.torch.engine import lowered
        from assay.models.program import open_program

        options = self._checked(flow)
        return lowered(open_program(model), options)

    def after_each_pass(
        self,
        model: Path,
        flow: Flow,
        inputs: Tensors,
        folder: Path,  # noqa: ARG002  the port's
    ) -> list[tuple[str, Mapping[str, Tensor] | None]]:
        """As Inductor's own bisector does it: its passes, and the lowering of each operator. Raises Unsupported of eager torch."""
        from assay.backends.torch.bisector import by_bisection, first_steps
        from assay.backends.torch.engine import lowered
        from assay.models.program import open_program

        options = self._checked(flow)
        if options["compiler"] == "eager":
            raise Unsupported(noted(BackendCode.PASSES_NOT_SHOWN, library="torch"), cause="other")
        program = open_program(model)

        def compiled(most: int | None, names: list[str]) -> Mapping[str, Tensor]:
            with first_steps(most, names):
                return lowered(program, {**options, "compiler": "inductor"}).run(inputs)

        return by_bisection(lowered(program, {**options, "compiler": "eager"}).run(inputs), compiled)

    def load(self, folder: Path, flow: Flow) -> TorchEngine:
        """What `save` wrote: the program, or the package compiled ahead of time."""
        from assay.backends.torch.engine import loaded

        return loaded(folder, self._checked(flow))

    def _checked(self, flow: Flow) -> dict[str, Option]:
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        if options["precision"] == "float64" and options["compiler"] != "eager":
            needs = ("compiler=eager",)
            raise UsageError(
                noted(BackendCode.OPTION_NEEDS, flow=flow.name, option="precision", value="float64", needs=needs)
            )
        read_config(str(options["inductor_config"]), flow.name)
        if flow.device != "cpu" and "device" not in flow.options:
            options["device"] = flow.device
        _check_device(str(options["device"]))
        if options["compiler"] != "eager":
            _check_compiler()
        return options


def _check_device(device: str) -> None:
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise Unavailable(
            noted(
                BackendCode.TORCH_WITHOUT_CUDA if torch.version.cuda is None else BackendCode.TORCH_SEES_NO_CUDA,
                version=str(torch.__version__),
            )
        )


def _check_compiler() -> None:
    from torch._inductor import cpp_builder, exc

    try:
        cpp_builder.get_cpp_compiler()
    except exc.InvalidCxxCompiler as error:
        raise Unavailable(noted(BackendCode.NO_CPP_COMPILER)) from error
