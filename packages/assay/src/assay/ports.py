"""The extension manual: what a backend, a transform, a metric, a suite, a launcher, a store, a blob store and a report must do.

Each protocol names the conformance check in `assay.testing` that an implementation must pass. Implementations are found by
entry point (groups `assay.backends`, `assay.transforms`, `assay.suites`, `assay.metrics`, `assay.reports`,
`assay.launchers`, `assay.stores`); ours come in by the same door as a third party's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np

from assay.core.case import Case, Contract
from assay.core.flow import Flow, Option
from assay.core.job import Job
from assay.core.result import EngineInfo, Result
from assay.core.run import Run
from assay.core.sandbox import Sandboxed, SandboxLimits
from assay.core.verdict import RunVerdict

Tensor = np.ndarray[Any, Any]
Tensors = Mapping[str, Tensor]
"""Name to array. bfloat16, fp8 and int4 arrays carry the dtypes of ml_dtypes."""


class OptionSpec(msgspec.Struct, frozen=True):
    """One option of a backend: its default, what it may be (empty: any of the default's type), and what it does. `allowance` is
    the one that a flow has no claim to where this is false."""

    name: str
    default: Option
    choices: tuple[Option, ...] = ()
    help: str = ""
    allowance: str = ""


class Availability(msgspec.Struct, frozen=True):
    """Whether a backend can run here. `install` is the command that would make it available."""

    available: bool
    version: str = ""
    reason: str = ""
    install: str = ""


class Engine(Protocol):
    """A lowered model. Created, run and dropped inside one worker process."""

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Feed inputs by name, return every output by name in the model's order. Shapes and dtypes exactly as the
        backend gave them: no squeezing, no casting."""
        ...

    def save(self, folder: Path) -> None:
        """Write the artifact that would be deployed into an existing empty folder."""
        ...

    def facts(self) -> EngineInfo:
        """What the engine is: version, actual precision, operators and where they ran. Called after a run, and once
        before any: what is known then is all that is recorded of an engine that cannot be run here."""
        ...

    # `bind(tensors) -> Callable[[], object]` may stand here too, where inputs can lie in the backend's memory once and for all:
    # each call of what it returns is one inference and copies nothing, which is what the backend's own tool times.

    # `device_call(tensors) -> Callable[[], float] | None` may stand here too, on an engine of a CUDA device: inputs lie in its memory
    # once and for all, and each call is one inference, awaited, and gives the seconds between two events on its stream. Engines in a
    # duel are then compared by these.

    # `call_times(tensors, seconds) -> tuple[float, ...]` may stand here too, where a call cannot be timed from outside (a
    # program that is started again for each): seconds of each call, by its own clock. Such an engine is in no duel.

    # `operator_times(tensors) -> tuple[OperatorTime, ...]` may stand here too, where the backend can tell where the time of
    # one call goes: it explains why an engine is slower.


class Backend(Protocol):
    """Lowers models. The class is instantiated without arguments; importing its module must not import the library.

    Conformance: `assay.testing.check_backend`.
    """

    name: str
    options: tuple[OptionSpec, ...]
    flows: tuple[Flow, ...]
    """The named flows this backend offers, the default one first."""
    accepts: str
    """The form of model that `lower` reads: "onnx" (a file) or "torch" (a file of torch.export). The worker converts."""
    dynamic: bool
    """Claims that one engine takes every size of the symbolic dimensions (absent: it does not). Where the case names sizes,
    such an engine is verified at every size that the case names; `lower` finds them in `Flow.dims`."""
    # `library = "onnxruntime"` may stand here too, where the answers are computed by a library that another backend is called after:
    # flows of one library do not vouch for one another.
    # `integers = False` may stand here too, where the backend has no integer tensors: its conformance model has no ArgMax.

    def availability(self) -> Availability:
        """Without importing the library where that is possible (importlib.metadata): this is called in the driver."""
        ...

    def prepare(self) -> None:
        """Import the library (the `import` stage)."""
        ...

    # `forkable = True` may stand here: what the two below import is all in memory, so that a process that has imported it may be forked
    # into workers (no thread, lock, folder or device that belongs to one process).
    # `prepare_to_load() -> None` may stand here too, where loading and running need less of the library than lowering: it is
    # called instead where an artifact of an earlier run is loaded. `prepare` may follow it in the same process.

    def lower(self, model: Path, flow: Flow) -> Engine:
        """Compile the file for this flow. Raises errors of `assay.errors.Lowering` where the backend's words tell why."""
        ...

    def load(self, folder: Path, flow: Flow) -> Engine:
        """The engine saved into `folder` by `Engine.save`. Raises NotRunnable where the device or the runtime that would
        run it is not here (`Engine.run` may, too): the job is then recorded as lowered, never as passed."""
        ...


@runtime_checkable
class BuiltForSizes(Protocol):
    """An optional ability of a backend: `needs_sizes` says that `lower` needs a size for every symbolic dimension, all or the usual
    ones. The worker then gives those of the samples in `Flow.sample_sizes`; `assay.core.flow.sizes_to_build` joins them with
    what is stated. The engine's facts name what was built for: `size.NAME`, or `bounds.NAME` for a range."""

    needs_sizes: bool


class Transform(Protocol):
    """Rewrites a model before it is lowered: its precision, its quantization, its opset. Instantiated without arguments.

    A flow names its transforms in order, each as `name` or `name:argument` (`opset:17`, `int8-qdq:per-channel`).
    Conformance: `assay.testing.check_transform`.
    """

    name: str
    accepts: str
    """The form of model it reads and writes: "onnx" or "torch"."""
    precision: str
    """The coarsest type it introduces ("int8", "float16"): the flow's outputs are judged by it. "": it changes none."""
    calibrated: bool
    """Whether it needs samples. They are taken from the golden set, and those taken are never judged. `uncalibrated` of a
    transform, where it has one, are the arguments with which it needs none."""

    def availability(self) -> Availability:
        """As for a backend."""
        ...

    def prepare(self) -> None:
        """Import what it needs (the `import` stage)."""
        ...

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Write the rewritten model into an existing empty folder and return its path; `model` stays as it is.

        Raises errors of `assay.errors.Lowering` for a model that it cannot serve, UsageError for an argument that it
        does not know.
        """
        ...


class Metric(Protocol):
    """One figure of one output. Conformance: `assay.testing.check_metric`."""

    def __call__(self, actual: Tensor, expected: Tensor, contract: Contract) -> Mapping[str, float]:
        """Figures by name; NaN where the figure has no meaning for these arrays. Never raises on empty, 0-d, NaN, infinity."""
        ...


class Suite(Protocol):
    """A named, seeded generator of cases. Instantiated without arguments. Conformance: `assay.testing.check_suite`."""

    name: str
    about: str
    """One line: what is in it."""

    def cases(self, *, seed: int) -> Iterator[Case]:
        """Every case, named `suite/case`, the same for the same seed on every machine. Cheap: called in the driver, so
        that it imports no framework; the files of a case may not exist yet, and its model's digest may be empty."""
        ...

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:
        """The same cases, each with its files on disk, or with the reason why it has none ("": it has). What is made
        is kept in the cache; whatever needs a framework happens in processes of its own (`workers`, 0: one per core).
        A case without files ends `unsupported`, or as the suite's attribute `unmade` says; `counted_as`, where a suite has
        it, names the list that its cases are counted with, its name else."""
        ...


class Launcher(Protocol):
    """Jobs in, exactly one result each out, in the order they end. Conformance: `assay.testing.check_launcher`."""

    def launch(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Closing the iterator stops all workers and leaves no process behind."""
        ...


class Store(Protocol):
    """The history. One writer at a time; a second waits. Conformance: `assay.testing.check_store`."""

    def open_run(self, run: Run) -> None:
        """Record a run before its first job. Opening the same run again changes nothing."""
        ...

    def record(self, run_id: str, results: Sequence[Result]) -> None:
        """Append results in one transaction; idempotent by (run, job key): a second copy changes nothing."""
        ...

    def close_run(self, run_id: str, status: str, judgement: RunVerdict) -> None:
        """Set the status and keep the words of the judgement in the summary and current-state tables."""
        ...

    def run(self, run_id: str) -> Run:
        """The run with that id, or a unique prefix of it, or "last". Raises `assay.errors.RunNotFound`."""
        ...

    def runs(self, limit: int = 50) -> list[RunSummary]:
        """Newest first."""
        ...

    def results(self, run_id: str) -> list[Result]:
        """In the order recorded."""
        ...

    def close(self) -> None: ...


class RunSummary(msgspec.Struct, frozen=True):
    """One line of `assay runs`, from the summary table. `word` is empty while the run is not judged."""

    id: str
    started_at: str
    status: str
    command: str
    jobs: int
    recorded: int
    word: str = ""
    passed: int = 0
    failed: int = 0
    other: int = 0


class Blobs(Protocol):
    """Bytes by sha256. Conformance: `assay.testing.check_blobs`."""

    def put(self, data: bytes) -> str:
        """Keep the bytes, return their sha256. Same bytes twice is one blob; a power cut leaves it whole or absent."""
        ...

    def get(self, digest: str) -> bytes:
        """Verified on read. Raises `assay.errors.BlobMissing` or `BlobCorrupt`."""
        ...


class Report(Protocol):
    """A pure function from a judged run to text. Conformance: a golden of its text on the standard run."""

    name: str
    suffix: str

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str: ...


__all__ = [
    "Availability",
    "Backend",
    "Blobs",
    "Engine",
    "Iterable",
    "Launcher",
    "Metric",
    "OptionSpec",
    "Report",
    "RunSummary",
    "Store",
    "Suite",
    "Tensor",
    "Tensors",
    "Transform",
]


class Sandbox(Protocol):
    """Runs untrusted code: no network, no secrets, a read-only system, a user of its own, limits on everything."""

    def available(self) -> Availability:
        """Whether this machine can hold it, tried for real, and if not what to do."""

    def run(
        self, command: Sequence[str], *, inputs: Mapping[str, Path], output: Path, limits: SandboxLimits
    ) -> Sandboxed:
        """Run `command` in /work, an empty writable folder that is copied to `output` afterwards: regular files only,
        within `limits`. Each of `inputs` is seen read-only under /in/NAME. "python" in front is the interpreter of the
        harness with its packages. Never raises for what the code does."""
