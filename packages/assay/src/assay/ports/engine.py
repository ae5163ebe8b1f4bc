"""The lowered model, and what it may be able to do besides running."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from assay.core.engine_info import EngineInfo
from assay.core.measurement import OperatorTime
from assay.ports.values import Tensor, Tensors


class Engine(Protocol):
    """A lowered model. Created, run and dropped inside one worker process."""

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Feed inputs by name, return every output by name in the model's order. Shapes and dtypes exactly as the
        backend gave them: no squeezing, no casting. The inputs are the caller's and are not written into; so is an answer,
        which no later call changes."""
        ...

    def save(self, folder: Path) -> None:
        """Write the artifact that would be deployed into an existing empty folder."""
        ...

    def facts(self) -> EngineInfo:
        """What the engine is: version, actual precision, operators and where they ran. Called after a run, and once
        before any: what is known then is all that is recorded of an engine that cannot be run here."""
        ...


@runtime_checkable
class SupportsBind(Protocol):
    """An engine whose inputs can lie in the backend's memory once and for all. Without it a call of `run` is timed."""

    def bind(self, tensors: Tensors) -> Callable[[], object]:
        """Each call of what it returns is one inference and copies nothing, which is what the backend's own tool times."""
        ...


@runtime_checkable
class DeviceTimed(Protocol):
    """An engine of a device that has a clock of its own. Where both engines of a comparison have it, they are compared by it."""

    def device_call(self, tensors: Tensors) -> Callable[[], float] | None:
        """The inputs lie in the device's memory once and for all. Each call is one inference, awaited, and gives the seconds
        between two events on its stream. None where this engine runs on another device."""
        ...


@runtime_checkable
class SelfTimed(Engine, Protocol):
    """An engine whose calls cannot be timed from outside: a program that is started again for each. Such an engine is measured,
    and never compared side by side with another one."""

    def call_times(self, tensors: Tensors, seconds: float) -> tuple[float, ...]:
        """The seconds of each call, by its own clock, of as many calls as fit `seconds`."""
        ...


@runtime_checkable
class ProfilesOperators(Protocol):
    """An engine that knows where the time of one call goes: it explains why an engine is slower."""

    def operator_times(self, tensors: Tensors) -> tuple[OperatorTime, ...]:
        """From the backend's own profile, of calls on these inputs."""
        ...


@runtime_checkable
class Traced(Protocol):
    """An engine whose backend records when each operator of a call runs, or how long."""

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """Write the backend's own profile of a few calls on these inputs into the empty `folder`. What ends in .json is in Chrome's
        trace format, which Perfetto opens; other files are of the backend's own format, for its own tools. Raises Unsupported with the
        reason where this build or this device has no profile."""
        ...
