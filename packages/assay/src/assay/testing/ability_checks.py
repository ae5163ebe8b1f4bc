"""What a backend and its engines promise where they have one of the optional abilities of `assay.ports`."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import numpy as np

from assay.core.flow import Flow
from assay.core.measurement import OperatorTime
from assay.core.native_warning import NativeWarning
from assay.errors import NotRunnable, Unsupported
from assay.judge.words.note_text import note_text
from assay.models.telemetry import GUARD
from assay.ports import (
    Backend,
    BuiltForSizes,
    DeclaresIntegers,
    DeviceTimed,
    Dynamic,
    Engine,
    Forkable,
    LoadsWithLess,
    NamesLibrary,
    NamesPlatforms,
    ProfilesOperators,
    Prompted,
    ReadsWarnings,
    SelfTimed,
    ShipsEnvironment,
    SupportsBind,
    Tensor,
    Tensors,
    Traced,
)
from assay.testing.trace_checks import what_is_not_shown
from assay.worker.timing.traces import what_is_wrong

_TIMED_S = 0.1


def check_backend_abilities(backend: Backend) -> None:
    """What can be known without the library."""
    flags = {
        "dynamic": backend.dynamic if isinstance(backend, Dynamic) else False,
        "needs_sizes": backend.needs_sizes if isinstance(backend, BuiltForSizes) else False,
        "integers": backend.integers if isinstance(backend, DeclaresIntegers) else True,
        "forkable": backend.forkable if isinstance(backend, Forkable) else False,
        "prompted": backend.prompted if isinstance(backend, Prompted) else False,
    }
    for name, flag in flags.items():
        assert isinstance(flag, bool), f"{backend.name}: {name} is {flag!r}; it must be True or False."
    if isinstance(backend, NamesLibrary):
        named = isinstance(backend.library, str) and bool(backend.library)
        assert named, f"{backend.name}: library names no library."
    if isinstance(backend, NamesPlatforms):
        for flow in backend.flows:
            known = set(backend.platforms(flow)) <= {"linux", "darwin", "win32"}
            assert known, f"{flow.name}: platforms are {backend.platforms(flow)!r}; name those of sys.platform."
    if isinstance(backend, ShipsEnvironment):
        requires = backend.requires
        right = (
            isinstance(requires, tuple)
            and requires
            and all(isinstance(requirement, str) and requirement.strip() for requirement in requires)
        )
        assert right, f'{backend.name}: requires is {requires!r}; it must be a tuple such as ("onnxruntime==1.31.1",).'
    else:
        lost = [flow.name for flow in backend.flows if flow.environment]
        assert not lost, f"{backend.name}: {lost[:1]} names an environment, and `requires` does not say what is in it."
    if isinstance(backend, ReadsWarnings):
        _read_warnings(backend.name, backend)


_SAID = "an operator of this model is handled in a manner without precedent"
_AS_PYTHON_PRINTS = (
    f"WARNING:library:{_SAID}",
    f"ERROR:library:{_SAID}",
    f"/a library/build.py:12: UserWarning: {_SAID}",
    f"build.py:12: DeprecationWarning: {_SAID}",
)


def _read_warnings(name: str, backend: ReadsWarnings) -> None:
    """What it answers of words that it cannot know; where it answers nothing they are kept as `other`."""
    for line in ("", *_AS_PYTHON_PRINTS):
        native_warnings = backend.read_warnings(line)
        right = isinstance(native_warnings, tuple) and all(
            isinstance(native_warning, NativeWarning) for native_warning in native_warnings
        )
        assert right, f"{name}: read_warnings({line!r}) gives {native_warnings!r}; it must be a tuple of NativeWarning."
        lost = [native_warning for native_warning in native_warnings if native_warning.count < 1]
        assert not lost, (
            f"{name}: read_warnings({line!r}) says with a count of {lost[0].count} that this is nothing of the model: "
            "a warning would be lost. Say that only of words that are known."
        )


def check_engine_abilities(flow: Flow, engine: Engine, feeds: dict[str, Tensor], answers: Tensors) -> None:
    """Timed calls must leave the caller's arrays and later answers alone."""
    copies = {name: array.copy() for name, array in feeds.items()}
    for ability in (_bind, _device_call, _call_times, _operator_times, _trace):
        ability(flow, engine, feeds)
        for name, array in copies.items():
            assert identical(array, feeds[name]), f'{flow.name}: {ability.__name__[1:]} wrote into the input "{name}".'
    for name, array in engine.run(feeds).items():
        assert identical(array, answers[name]), f'{flow.name}: output "{name}" differs after timed calls.'


def _bind(flow: Flow, engine: Engine, feeds: dict[str, Tensor]) -> None:  # noqa: ARG001  as the others
    if isinstance(engine, SupportsBind):
        call = engine.bind(feeds)
        call()
        engine.run({name: np.zeros_like(array) for name, array in feeds.items()})
        call()


def _device_call(flow: Flow, engine: Engine, feeds: dict[str, Tensor]) -> None:
    if isinstance(engine, DeviceTimed) and (call := engine.device_call(feeds)) is not None:
        for seconds in (call(), call()):
            assert 0 <= seconds < math.inf, f"{flow.name}: device_call gives {seconds!r} seconds."


def _call_times(flow: Flow, engine: Engine, feeds: dict[str, Tensor]) -> None:
    if isinstance(engine, SelfTimed):
        times = engine.call_times(feeds, _TIMED_S)
        assert times, f"{flow.name}: call_times gives the time of no call."
        assert all(math.isfinite(time) and time > 0 for time in times), f"{flow.name}: call_times gives {min(times)!r}."


def _operator_times(flow: Flow, engine: Engine, feeds: dict[str, Tensor]) -> None:
    if isinstance(engine, ProfilesOperators):
        for time in engine.operator_times(feeds):
            assert isinstance(time, OperatorTime), (
                f"{flow.name}: operator_times gives {time!r}, which is no OperatorTime."
            )


def _trace(flow: Flow, engine: Engine, feeds: dict[str, Tensor]) -> None:
    if isinstance(engine, Traced):
        with tempfile.TemporaryDirectory() as place:
            try:
                engine.trace(feeds, Path(place))
            except (NotRunnable, Unsupported):
                return
            files = [path for path in Path(place).rglob("*") if path.is_file()]
            assert files, f"{flow.name}: trace wrote no file."
            for path in files:
                if path.suffix == ".json":
                    _shown(flow, path)


def _shown(flow: Flow, path: Path) -> None:
    wrong = what_is_wrong(path.read_bytes())
    assert not wrong, f"{flow.name}: trace wrote {path.name}, which is no Chrome trace: {note_text(wrong)}."
    lost = what_is_not_shown(path.read_bytes())
    assert not lost, f"{flow.name}: trace wrote {path.name}, of which a viewer does not show all: {lost}."


_FORK = """
import importlib, os, sys
backend = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])()
backend.prepare()
child = os.fork()
if not child:
    os._exit(0)
threads = len(os.listdir("/proc/self/task"))
os.waitpid(child, 0)
print(threads)
"""

_LOAD = """
import importlib, sys
from pathlib import Path
import msgspec, numpy
from assay.core.flow import Flow
backend = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])()
folder, flow = Path(sys.argv[3]), msgspec.json.decode(sys.argv[4], type=Flow)
with numpy.load(folder / "feeds.npz") as stored:
    feeds = dict(stored)
backend.prepare_to_load()
loaded = backend.load(folder / "saved", flow)
outputs = loaded.run(feeds)
backend.prepare()
lowered = backend.lower(Path(sys.argv[5]), flow)
again = lowered.run(feeds)
wrong = [name for name, array in outputs.items() if not numpy.array_equal(array, again[name])]
assert not wrong, f"what it lowers after it has loaded answers otherwise: {wrong}"
delegated = (loaded.facts().delegated, lowered.facts().delegated)
assert delegated[0] == delegated[1], f"nodes that the delegate took, loaded and lowered: {delegated}"
"""


def check_start(backend: Backend, flow: Flow, model: Path, feeds: dict[str, Tensor]) -> None:
    """What it promises of fresh processes: that they may be forked, and that `prepare_to_load` is enough to load and run."""
    if isinstance(backend, Forkable) and backend.forkable:
        threads = int(_fresh(backend, _FORK).splitlines()[-1])
        assert threads == 1, (
            f"{backend.name} is forkable, but importing it leaves {threads} threads: workers would miss them."
        )
    if isinstance(backend, LoadsWithLess):
        with tempfile.TemporaryDirectory(prefix="assay-check-") as name:
            saved = Path(name) / "saved"
            saved.mkdir()
            backend.lower(model, flow).save(saved)
            np.savez(Path(name) / "feeds.npz", allow_pickle=False, **feeds)
            _fresh(backend, _LOAD, name, msgspec.json.encode(flow).decode(), str(model))


def _fresh(backend: Backend, program: str, *arguments: str) -> str:
    kind = type(backend)
    command = [sys.executable, "-c", GUARD + program, kind.__module__, kind.__qualname__, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{backend.name} fails in a fresh process: {done.stderr}"
    return done.stdout


def identical(tensor: Tensor, other: Tensor) -> bool:
    """Bit by bit."""
    if tensor.shape != other.shape or tensor.dtype != other.dtype:
        return False
    return np.array_equal(tensor, other) if tensor.dtype == object else tensor.tobytes() == other.tobytes()
