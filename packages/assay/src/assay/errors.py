"""Errors of the harness and of its input, never of the thing under test.

::

    AssayError
    ├── UsageError                exit 2: wrong usage or bad input; the text is one sentence: what, where, what to do
    │   ├── BadModel              a file that is no usable ONNX model
    │   ├── BadInputs             no inputs were found, or given, that a model takes
    │   ├── BadGolden             a golden folder that cannot be used as it is
    │   ├── BadPolicy             assay.toml
    │   ├── UnknownName           an unknown flow, backend, report; names the nearest
    │   ├── NewerHistory          a history written by a newer version of assay
    │   ├── RunNotFound           no such run in the history
    │   ├── NothingSelected       exit 5: a filter, type or share that leaves no case, or a schedule that finds nothing
    │   └── NotWritable           a path that is to be written cannot be
    ├── BrokenGuard               exit 1: what was there is gone, before anything ran
    │   ├── FewerCases            a suite collects fewer cases than recorded
    │   ├── BrokenSuite           a suite that loses cases or cannot list them
    │   └── BrokenFlow            a registered flow that cannot be imported
    ├── HarnessError              exit 4: the harness or the machine failed
    │   ├── StoreError            the history cannot be read or written
    │   │   ├── StoreUnreachable  its server does not answer
    │   │   ├── OtherRun          another run has the id
    │   │   └── BlobLost          a file that should be in a store of blobs is not there, or is damaged
    │   ├── WorkerFailed          workers cannot be started
    │   ├── SlurmUnreachable      Slurm does not answer: its jobs go on
    │   ├── BrokenMetric          a plug-in's metric that cannot be imported or raises: infrastructure, the engine is not blamed
    │   ├── EndpointFailed        a service does not answer: infrastructure, or a timeout; its model is not blamed
    │   └── EnvironmentFailed     an environment cannot be resolved or built: its flows are unavailable, others go on
    └── Lowering                  raised by backends in a worker: becomes an outcome of the job, never leaves the worker
        ├── Unsupported           an operator, opset, type or shape the backend does not have
        ├── InvalidModel          the backend says the model is broken
        ├── Undelegated           operators were left to another device, and the flow forbids that
        ├── NotRunnable           lowered, but the device or runtime that could run it is not here
        ├── Unavailable           a library or device is missing
        ├── EndpointBroke         a service that answered before went away, or answers by no protocol
        └── PeerFailed            the other process of a comparison failed, this one is well

WrongInput, and WrongShape of them, are ValueErrors as well: what an engine raises that is fed what it does not take. OutOfMemory is a
MemoryError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, TypeVar

if TYPE_CHECKING:
    from assay.core.note import Note

Thing = TypeVar("Thing")
Used = TypeVar("Used")


class AssayError(Exception):
    """The root. What may be raised in a worker is a note, whose sentence is made where a person reads it: in the driver. Anybody else,
    plug-ins among them, gives the words."""

    words: ClassVar[Callable[[Note], str]] = str
    """Of a note, in this process: the driver's sentence. A worker has none, and shows its code and facts."""

    def __init__(self, text: str | Note = "") -> None:
        from assay.core.note import Note  # here, for a help text is there before anything else is imported

        self.note = text if isinstance(text, Note) else None
        super().__init__(text)

    def __str__(self) -> str:
        return super().__str__() if self.note is None else AssayError.words(self.note)

    @property
    def reason(self) -> str | Note:
        """As a fact of what it leads to."""
        return super().__str__() if self.note is None else self.note


class UsageError(AssayError):
    """Wrong usage or bad input."""


class BadModel(UsageError):
    """A file that is no usable model."""


class BadInputs(UsageError):
    """No inputs were found that a model takes, or those that are asked for are refused by everything."""


class BadGolden(UsageError):
    """A golden folder that cannot be used as it is."""


class BadPolicy(UsageError):
    """assay.toml says something that cannot be followed."""


class UnknownName(UsageError):
    """A name that nothing answers to."""


class RunNotFound(UsageError):
    """No such run in the history."""


class NothingSelected(UsageError):
    """A filter, a type or a share that leaves no case: running nothing must not look like success."""


class BrokenGuard(AssayError):
    """What was there is gone: told before anything ran."""


class FewerCases(BrokenGuard):
    """A suite collects fewer cases than recorded."""


class BrokenSuite(BrokenGuard):
    """A suite that loses cases or cannot list them."""


class BrokenFlow(BrokenGuard):
    """A registered flow that cannot be imported."""


class NotWritable(UsageError):
    """A path that is to be written cannot be."""


class HarnessError(AssayError):
    """The harness or the machine failed."""


class StoreError(HarnessError):
    """The history cannot be read or written."""


class StoreUnreachable(StoreError):
    """The server of the history does not answer, or went away: nothing was refused, and the same may be tried again."""


class OtherRun(StoreError):
    """Another run, of another machine or time, has the id in the history."""


class BlobLost(StoreError):
    """A file that should be in a store of blobs is not there, or has other bytes than its digest says."""


class NewerHistory(UsageError):
    """The history was written by a newer version of assay."""


class BrokenMetric(HarnessError):
    """A plug-in's metric cannot be imported, or raised."""


class WorkerFailed(HarnessError):
    """Workers cannot be started."""


class SlurmUnreachable(HarnessError):
    """Slurm does not answer, or takes no more jobs. Those that it took go on, and are not taken out of its queue."""


class EnvironmentFailed(HarnessError):
    """An environment cannot be resolved or built."""


class EndpointFailed(HarnessError):
    """A service does not answer: nothing is known of its model. `late`: it took too long."""

    def __init__(self, text: str | Note, *, late: bool = False) -> None:
        super().__init__(text)
        self.late = late


class Lowering(AssayError):
    """Why a backend did not take a model. `node` names the offending node where the backend does."""

    def __init__(self, text: str | Note, *, node: str = "") -> None:
        super().__init__(text)
        self.node = node


class Unsupported(Lowering):
    """An operator, opset, type or shape the backend does not have. `cause` is a `Cause` value's name."""

    def __init__(self, text: str | Note, *, node: str = "", cause: str = "operator_unsupported") -> None:
        super().__init__(text, node=node)
        self.cause = cause


class WrongInput(AssayError, ValueError):
    """An engine was fed what it does not take. A plug-in may raise any ValueError."""


class WrongShape(WrongInput):
    """Of another shape: input `name`, where it takes `wanted`."""

    def __init__(self, text: str | Note, *, name: str, shape: tuple[int | str, ...]) -> None:
        super().__init__(text)
        self.name, self.wanted = name, shape


class OutOfMemory(AssayError, MemoryError):
    """A backend had not enough, and says more than that."""


class Undelegated(Lowering):
    """Operators were left to another device, and the flow forbids that. The text names them."""


class InvalidModel(Lowering):
    """The backend says that the model is broken."""


class NotRunnable(Lowering):
    """The model was lowered and what would run it is not on this machine: raised by `load` or `run`, never by `lower`.

    The text names what is missing: "no CUDA device", "Core ML runs on macOS only".
    """


class Unavailable(Lowering):
    """A library or a device is missing. The text says what to install or where it runs."""


class EndpointBroke(Lowering):
    """A service answered before, and went away, or its answer is none of its protocol."""


class PeerFailed(Lowering):
    """This process of a comparison is well: the other one is not, and says itself what happened to it."""


def each(things: Iterable[Thing], use: Callable[[Thing], Used]) -> list[Used]:
    """`use` of every one. Where some are refused, raises what the first raised, with the sentences of all: a person who gives
    several files fixes them all at once."""
    used, refused = [], []
    for thing in things:
        try:
            used.append(use(thing))
        except UsageError as error:
            refused.append(error)
    if len(refused) > 1:
        raise type(refused[0])("\n".join(dict.fromkeys(map(str, refused)))) from refused[0]
    if refused:
        raise refused[0]
    return used
