"""The environments of one history: from a name to an interpreter in which that flow's backend is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.environment import EnvironmentSpec, Interpreter
from assay.core.flow import Flow
from assay.environments.cache import Cache, default_cache, size_bytes
from assay.environments.installer import Installer
from assay.environments.interpreters import interpreter_of
from assay.environments.lock import Lock, read_lock, write_lock
from assay.environments.pythons import find_python
from assay.environments.uv import find_installer
from assay.environments.worker_requirements import worker_requirements
from assay.errors import EnvironmentFailed
from assay.judge.words.note_text import note_text
from assay.ports import Availability

PROBE_S = 120.0
"""For an interpreter to start and say what is installed in it."""


NOT_BUILT = "not built"


class State(msgspec.Struct, frozen=True):
    """One line of `assay env list`. `trouble` is "" where the environment is built and whole, `missing`: it is not built."""

    spec: EnvironmentSpec
    digest: str = ""
    python: str = ""
    folder: str = ""
    bytes: int = 0
    trouble: str = ""
    missing: bool = False


class _NotWhole(EnvironmentFailed):
    """Nobody has built it, or something of it is gone."""


class Environments:
    """`folder` keeps the locks; `specs` gives those a user or a backend named, and is asked when one is needed."""

    def __init__(
        self,
        folder: Path,
        specs: Callable[[], Mapping[str, EnvironmentSpec]],
        *,
        cache: Path | None = None,
        tell: Callable[[str], None] = lambda text: None,
        installer: Installer | None = None,
    ) -> None:
        self._folder, self._tell, self._installer = folder, tell, installer
        self._read_specs = specs
        self._cache = Cache(cache or default_cache())
        self._interpreters: dict[str, Interpreter] = {}
        self._failed: dict[str, str] = {}
        self._asked: dict[tuple[str, str], Availability] = {}
        self._glanced: dict[tuple[str, str], Availability] = {}

    @cached_property
    def _specs(self) -> dict[str, EnvironmentSpec]:
        return dict(self._read_specs())

    @property
    def names(self) -> list[str]:
        """All that can be built by name."""
        return sorted(self._specs)

    def spec(self, name: str) -> EnvironmentSpec:
        """Raises EnvironmentFailed for a name that neither assay.toml nor a backend nor an earlier run knows."""
        if name in self._specs:
            return self._specs[name]
        lock = read_lock(self._folder / f"{name}.lock")
        if lock is None:
            raise EnvironmentFailed(f"there is no environment {name!r}; write [environments.{name}] in assay.toml")
        return EnvironmentSpec(name, lock.requires, lock.asked_python)

    def availability(self, flow: Flow) -> Availability:
        """Asked of the environment that the flow names. One that a user named is built; one that a backend ships is not,
        before a person says so: it may be gigabytes."""
        key = (flow.environment, flow.backend)
        if key not in self._asked:
            self._asked[key] = self._ask(*key, self.interpreter)
        return self._asked[key]

    def at_a_glance(self, flow: Flow) -> Availability:
        """The same of what is there: nothing is built, whoever named it, and not every installed file is looked for."""
        key = (flow.environment, flow.backend)
        if key not in self._glanced:
            self._glanced[key] = self._ask(*key, self._as_it_is)
        return self._glanced[key]

    def interpreter(self, name: str) -> Interpreter:
        """Of the built environment; "" is the driver's own. Raises EnvironmentFailed."""
        if not name:
            return Interpreter(sys.executable)
        if name in self._failed:
            raise EnvironmentFailed(self._failed[name])
        if name not in self._interpreters:
            try:
                self._interpreters[name] = self._ready(self.spec(name))
            except EnvironmentFailed as error:
                self._failed[name] = str(error)
                raise
        return self._interpreters[name]

    def build(self, name: str) -> State:
        """Whatever ships it. Raises EnvironmentFailed."""
        self._failed.pop(name, None)
        self._interpreters[name] = self._make(self.spec(name))
        return self.state(name)

    def lock(self, name: str) -> Path:
        """Resolve again, whatever was locked before; the file. Raises EnvironmentFailed."""
        spec = self.spec(name)
        path = self._lock_path(spec)
        write_lock(path, self._resolve(spec))
        self._interpreters.pop(name, None)
        return path

    def remove(self, name: str) -> int:
        """Bytes freed. The lock stays: the next build gives the same versions."""
        spec = self.spec(name)
        lock = read_lock(self._lock_path(spec))
        self._interpreters.pop(name, None)
        return self._cache.remove(lock) if lock is not None else 0

    def state(self, name: str) -> State:
        """Looks at what is there; builds and resolves nothing."""
        spec = self.spec(name)
        try:
            lock = self._locked(spec)
        except EnvironmentFailed as error:
            return State(spec, trouble=str(error))
        if lock is None:
            return State(spec, python=spec.python, trouble=NOT_BUILT, missing=True)
        place = self._cache.place(lock)
        trouble = _trouble(self._cache.state(lock))
        missing = trouble == NOT_BUILT
        size = 0 if missing else size_bytes(place)
        return State(spec, lock.digest, lock.python, str(place), size, trouble, missing)

    def _ask(self, environment: str, backend: str, program_of: Callable[[str], Interpreter]) -> Availability:
        if not environment:
            return plugins.availability(backend)
        try:
            program = program_of(environment)
        except EnvironmentFailed as error:
            shipped = environment in self._specs and self._specs[environment].shipped_by
            builds = shipped or isinstance(error, _NotWhole)
            return Availability(
                available=False, reason=error.reason, install=f"assay env build {environment}" if builds else ""
            )
        availability = _probe(program, backend)
        if availability.available:
            return availability
        reason = f"in the environment {environment!r}: {note_text(availability.reason)}"
        return msgspec.structs.replace(
            availability, reason=reason, install=f"add it to requires of [environments.{environment}]"
        )

    def _ready(self, spec: EnvironmentSpec) -> Interpreter:
        """Built now where a user named it."""
        return self._whole(spec, every_file=True) if spec.shipped_by else self._make(spec)

    def _as_it_is(self, name: str) -> Interpreter:
        return self._whole(self.spec(name), every_file=False)

    def _whole(self, spec: EnvironmentSpec, *, every_file: bool) -> Interpreter:
        """Of an environment that is built. Raises EnvironmentFailed."""
        lock = self._locked(spec)
        trouble = NOT_BUILT if lock is None else _trouble(self._cache.state(lock, every_file=every_file))
        if lock is None or trouble:
            whose = (
                f"{spec.shipped_by} runs in an environment of its own"
                if spec.shipped_by
                else f"its environment {spec.name!r}"
            )
            verb = ", which is" if spec.shipped_by else " is"
            raise _NotWhole(f"{whose} ({', '.join(spec.requires)}){verb} {trouble}")
        return interpreter_of(self._cache, lock)

    def _make(self, spec: EnvironmentSpec) -> Interpreter:
        python, _ = find_python(spec.python, spec.name)
        lock = self._locked(spec)
        if lock is None:
            self._tell(f"resolving environment {spec.name!r}: {', '.join(spec.requires)}")
            lock = self._resolve(spec)
            write_lock(self._lock_path(spec), lock)
        if self._cache.state(lock, every_file=False):
            self._tell(f"building environment {spec.name!r}: {len(lock.versions)} packages, kept for later runs")
        try:
            self._cache.build(lock, self._with(), python, self._tell)
        except EnvironmentFailed as error:
            raise EnvironmentFailed(f"environment {spec.name!r}: {error}") from None
        return interpreter_of(self._cache, lock)

    def _locked(self, spec: EnvironmentSpec) -> Lock | None:
        """The lock that fits what is asked now; None where it must be resolved. One that a user keeps is never replaced."""
        path = self._lock_path(spec)
        lock = read_lock(path)
        _, minor = find_python(spec.python, spec.name)
        if lock is None or (lock.requires == spec.requires and lock.python == minor):
            return lock
        if spec.lock:
            raise EnvironmentFailed(
                f"{path} locks {', '.join(lock.requires)} for Python {lock.python}, and [environments.{spec.name}] asks for "
                f"{', '.join(spec.requires)} on {minor}; run `assay env lock {spec.name}`"
            )
        return None

    def _lock_path(self, spec: EnvironmentSpec) -> Path:
        """A user's file; for what a backend ships, one for all histories, so that it is built once for a machine."""
        if spec.shipped_by:
            return self._cache.folder / "locks" / f"{spec.name}.lock"
        return Path(spec.lock) if spec.lock else self._folder / f"{spec.name}.lock"

    def _resolve(self, spec: EnvironmentSpec) -> Lock:
        python, minor = find_python(spec.python, spec.name)
        try:
            pins = self._with().resolve([*spec.requires, *worker_requirements()], python)
        except EnvironmentFailed as error:
            requirements = f"{', '.join(spec.requires)}; Python {minor}"
            raise EnvironmentFailed(f"environment {spec.name!r} ({requirements}) cannot be resolved: {error}") from None
        return Lock(spec.requires, minor, pins, spec.python)

    def _with(self) -> Installer:
        if self._installer is None:
            self._installer = find_installer()
        return self._installer


def _trouble(wrong: str) -> str:
    """In words for a person, what the cache says of an environment."""
    return NOT_BUILT if wrong == "missing" else f"broken: {wrong}" if wrong else ""


def _probe(interpreter: Interpreter, backend: str) -> Availability:
    command = [interpreter.program, "-P", "-m", "assay.environments.availability", backend]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=PROBE_S, check=False, env=interpreter.environ(os.environ)
        )
        return msgspec.json.decode(done.stdout, type=dict[str, Availability])[backend]
    except (OSError, subprocess.TimeoutExpired) as error:
        error_text = str(error)
    except (msgspec.MsgspecError, KeyError):
        error_text = " ".join(done.stderr.decode(errors="replace").split()[-40:])
    return Availability(available=False, reason=f"it cannot be asked for {backend}: {error_text}")
