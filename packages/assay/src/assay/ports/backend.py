"""What lowers models, and what it may declare besides. Each ability is read by the function beside it, which knows what holds
for a backend that does not have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from assay.core.flow import Flow, Option
from assay.core.native_warning import NativeWarning
from assay.ports.engine import Engine
from assay.ports.values import Availability, OptionSpec, Tensor, Tensors


class Backend(Protocol):
    """Lowers models. The class is instantiated without arguments; importing its module must not import the library.

    Conformance: `assay.testing.check_backend`.
    """

    @property
    def name(self) -> str: ...

    @property
    def options(self) -> tuple[OptionSpec, ...]: ...

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The named flows this backend offers, the default one first."""
        ...

    @property
    def accepts(self) -> str:
        """The form of model that `lower` reads: "onnx" (a file) or "torch" (a file of torch.export). The worker converts."""
        ...

    def availability(self) -> Availability:
        """Without importing the library where that is possible (importlib.metadata): this is called in the driver."""
        ...

    def prepare(self) -> None:
        """Import the library (the `import` stage)."""
        ...

    def lower(self, model: Path, flow: Flow) -> Engine:
        """Compile the file for this flow. Raises errors of `assay.errors.Lowering` where the backend's words tell why."""
        ...

    def load(self, folder: Path, flow: Flow) -> Engine:
        """The engine saved into `folder` by `Engine.save`. Raises NotRunnable where the device or the runtime that would
        run it is not here (`Engine.run` may, too): the job is then recorded as lowered, never as passed."""
        ...


@runtime_checkable
class Dynamic(Protocol):
    """A backend that says whether one engine takes every size of the symbolic dimensions. Without it: it does not."""

    @property
    def dynamic(self) -> bool:
        """Where the case names sizes, such an engine is verified at every one of them; `lower` finds them in `Flow.dims`."""
        ...


def is_dynamic(backend: Backend) -> bool:
    """Whether it claims that one engine takes every size."""
    return isinstance(backend, Dynamic) and backend.dynamic


@runtime_checkable
class BuiltForSizes(Protocol):
    """A backend that says whether `lower` needs a size for every symbolic dimension, all or the usual ones. Without it: no."""

    @property
    def needs_sizes(self) -> bool:
        """The worker then gives the sizes of the samples in `Flow.sample_sizes`; `assay.core.flow.sizes_to_build` joins them
        with what is stated. The engine's facts name what was built for: `size.NAME`, or `bounds.NAME` for a range."""
        ...


@runtime_checkable
class NamesLibrary(Protocol):
    """A backend whose answers are computed by a library that another backend is called after. Without it: it has its own."""

    @property
    def library(self) -> str:
        """Flows of one library do not vouch for one another."""
        ...


def library_name(backend: Backend) -> str:
    """Whose code computes its answers."""
    return backend.library if isinstance(backend, NamesLibrary) else backend.name


@runtime_checkable
class DeclaresIntegers(Protocol):
    """A backend that says whether it has integer tensors. Without it: it has."""

    @property
    def integers(self) -> bool:
        """False: the models that it is tried with have no ArgMax."""
        ...


def has_integers(backend: Backend) -> bool:
    """Whether models with integer tensors are for it."""
    return backend.integers if isinstance(backend, DeclaresIntegers) else True


@runtime_checkable
class Prompted(Protocol):
    """A backend that says whether its engines continue prompts (`assay.ports.prompts.ContinuesPrompts`). Without it: they take tensors
    and give tensors."""

    @property
    def prompted(self) -> bool:
        """True: what needs whole answers of them (saved outputs, goldens) is refused before anything starts."""
        ...


def is_prompted(backend: Backend) -> bool:
    """Whether it continues prompts."""
    return isinstance(backend, Prompted) and backend.prompted


@runtime_checkable
class ShipsEnvironment(Protocol):
    """A backend whose flows name an environment of their own (`Flow.environment`), and what must be installed there."""

    @property
    def requires(self) -> tuple[str, ...]:
        """Requirements as pip reads them: `("onnxruntime-qnn==2.7.0", "onnxruntime==1.31.1")`."""
        ...


def required_packages(backend: Backend) -> tuple[str, ...]:
    """What it asks for in an environment of its own; () where it ships none."""
    return backend.requires if isinstance(backend, ShipsEnvironment) else ()


@runtime_checkable
class NamesPlatforms(Protocol):
    """A backend that says on which systems a flow runs with the packages as their index has them. Without it: wherever its device is."""

    def platforms(self, flow: Flow) -> tuple[str, ...]:
        """As in `sys.platform`: `("darwin",)`. () where the packages lower for it and no runtime of theirs runs it."""
        ...


def platforms_of(backend: Backend, flow: Flow) -> tuple[str, ...]:
    """Where a flow of this backend runs, if a device of its kind is there."""
    return backend.platforms(flow) if isinstance(backend, NamesPlatforms) else ("linux", "darwin", "win32")


@runtime_checkable
class Forkable(Protocol):
    """A backend that says whether a process that has imported it may be forked into workers. Without it: no."""

    @property
    def forkable(self) -> bool:
        """True: what `prepare` (and `prepare_to_load`) imports is all in memory: no thread, lock, folder or device that
        belongs to one process."""
        ...


@runtime_checkable
class LoadsWithLess(Protocol):
    """A backend of which loading and running need less of the library than lowering."""

    def prepare_to_load(self) -> None:
        """Called instead of `prepare` where an artifact of an earlier run is loaded. `prepare` may follow it in the same
        process."""
        ...


def prepare_to_load(backend: Backend) -> None:
    """Import what loading and running need."""
    if isinstance(backend, LoadsWithLess):
        backend.prepare_to_load()
    else:
        backend.prepare()


@runtime_checkable
class ReadsWarnings(Protocol):
    """A backend that knows what the warnings of its library mean. Without it, what the library prints is not read, and no goal over a
    kind of warning can be kept."""

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Of what the library printed in one stage of a job, or of one line that Python gave, as Python prints it: `WARNING:name:words`
        by `logging`, `file.py:12: UserWarning: words` by `warnings`. What else was printed is left out. A line
        that Python gave and of which nothing is answered is kept as `other`; what says nothing of the model (the machine has no GPU, a
        cache was made) is answered with a `count` of 0."""
        ...


class NativeText(UserWarning):
    """The category by which a backend that listens to its library's own logger passes on what was said there."""


@runtime_checkable
class SwitchesPasses(Protocol):
    """A backend whose passes can be left out one by one. Without it: triage tries the values of its options alone."""

    @property
    def levels(self) -> tuple[Mapping[str, Option], ...]:
        """Options that run fewer passes than the next, the fewest first."""
        ...

    def passes_run(self, model: Path, flow: Flow) -> tuple[str, ...]:
        """Called in a worker: the names of those that changed the model, and of those that may have and do not say so."""
        ...

    def after_passes(self, model: Path, flow: Flow, folder: Path) -> Path:
        """Called in a worker: the model as the passes of this flow leave it, as an ONNX file in `folder`."""
        ...

    def without_passes(self, flow: Flow, names: Sequence[str]) -> Flow:
        """The flow with these left out, whatever it leaves out already. Names that it does not know change nothing."""
        ...


@runtime_checkable
class ShowsEachPass(Protocol):
    """A backend that can say what a model is worth after each of its passes. Without it: a pass that cannot be left out is not named."""

    def after_each_pass(
        self, model: Path, flow: Flow, inputs: Tensors, folder: Path
    ) -> Sequence[tuple[str, Mapping[str, Tensor] | None]]:
        """Called in a worker, in an empty folder: the passes in order with the outputs of the model after each, None where they cannot be
        evaluated. The first is "", the model as it is read. Raises Unsupported where nothing can be said."""
        ...


@runtime_checkable
class ShowsSavedUse(Protocol):
    """A backend that also shows how an engine is saved and loaded again without Assay: some defects are of what was saved alone. Without
    it: such a defect has no script that fails."""

    def saved_code(self, flow: Flow) -> str:
        """As `ShowsPlainUse.plain_code`, with the engine saved, loaded and then run."""
        ...


@runtime_checkable
class ShowsPlainUse(Protocol):
    """A backend that shows how it is called without Assay. Without it: triage writes the smallest model and no script."""

    @property
    def plain_packages(self) -> tuple[str, ...]:
        """The distributions that it needs, all of one version: other releases are tried by these names. One whose version is only a part
        of that says which: `pnnx=={2}` beside ncnn 1.0.20261020 is pnnx 20261020."""
        ...

    def plain_code(self, flow: Flow) -> str:
        """Python that defines `run(model, inputs)`, from an `onnx.ModelProto` and arrays by name to arrays by name, with the options
        of the flow; "" where these cannot be said so. It may import numpy, onnx and the library alone. A backend that accepts torch
        is given a `torch.nn.Module` with the names of its `inputs` and `outputs`."""
        ...
