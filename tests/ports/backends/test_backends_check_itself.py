"""The conformance check goes red for every promise that is broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

import pytest

from assay.backends.availability import installed
from assay.core.flow import Flow, Option
from assay.core.measurement import OperatorTime
from assay.core.native_warning import NativeWarning, WarningCode
from assay.errors import InvalidModel
from assay.judge.words.missing_text import reason_text
from assay.ports import Backend, Engine, Tensor, Tensors
from assay.testing.backend_checks import check_backend
from assay.testing.faulty_backend import Faulty, FaultyEngine
from assay.testing.tiny_models import BATCH


class _Broken(Faulty):
    """Faulty, with options slipped in behind the back of its flow, at lowering or only at loading."""

    flows = (Flow(name="broken", backend="faulty"),)
    slipped: Mapping[str, Option] = {}
    only_loaded = False
    refusal: Exception | None = None

    def lower(self, model: Path, flow: Flow) -> Engine:  # type: ignore[override]
        if self.refusal is not None and model.stem in ("unknown", "broken", "noise"):
            raise self.refusal
        return super().lower(model, flow if self.only_loaded else self._slip(flow))

    def load(self, folder: Path, flow: Flow) -> Engine:  # type: ignore[override]
        return super().load(folder, self._slip(flow))

    def _slip(self, flow: Flow) -> Flow:
        return Flow(name=flow.name, backend=flow.backend, options={**self.slipped, **flow.options})


def _backend(**changes: object) -> Faulty:
    # The check asks for availability in a fresh interpreter, where a class of this file cannot be found.
    names = {"__module__": Faulty.__module__, "__qualname__": Faulty.__qualname__}
    kind: type[Faulty] = type("Broken", (_Broken,), {**changes, **names})
    return kind()


def test_it_passes_when_nothing_is_broken() -> None:
    check_backend(_backend())


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("lie", "is off by"),
        ("zeros", "is off by"),
        ("scale2", "is off by"),
        ("lose_output", "outputs are"),
        ("extra_output", "outputs are"),
        ("rename_output", "outputs are"),
        ("reorder_outputs", "outputs are"),
        ("swap_outputs", "the model says"),
        ("wrong_shape", "the model says"),
        ("wrong_dtype", "the model says"),
        ("nan", "is off by"),
        ("nondeterministic", "differs between two runs"),
        ("reused_buffer", 'a later run\\(\\) changes output "'),
        ("written_input", 'run\\(\\) writes into its input "'),
    ],
)
def test_false_answers(fault: str, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_backend(_backend(slipped={"fault": fault}))


def test_another_engine_after_loading() -> None:
    with pytest.raises(AssertionError, match="not bit by bit the same after save and load"):
        check_backend(_backend(slipped={"fault": "lie"}, only_loaded=True))


def test_what_can_only_be_lowered_conforms() -> None:
    check_backend(_backend(slipped={"fault": "not_runnable", "stage": "run"}))
    check_backend(_backend(slipped={"fault": "not_runnable", "stage": "load"}))


def test_lowering_may_not_say_that_it_cannot_run() -> None:
    with pytest.raises(AssertionError, match=r"lower\(\) raised NotRunnable"):
        check_backend(_backend(slipped={"fault": "not_runnable", "stage": "lower"}))


def test_what_did_not_run_once_may_not_run_when_loaded() -> None:
    class _Runs(_Broken):
        def load(self, folder: Path, flow: Flow) -> Engine:  # type: ignore[override]
            return Faulty().load(folder, flow)

    kind = type(
        "Runs",
        (_Runs,),
        {
            "slipped": {"fault": "not_runnable", "stage": "run"},
            "__module__": Faulty.__module__,
            "__qualname__": Faulty.__qualname__,
        },
    )
    with pytest.raises(AssertionError, match="cannot run here was accepted"):
        check_backend(kind())


def test_an_unknown_operator_called_invalid() -> None:
    with pytest.raises(AssertionError, match="Unsupported was expected, not InvalidModel: no"):
        check_backend(_backend(refusal=InvalidModel("no")))


@pytest.mark.parametrize(
    ("flows", "words"),
    [
        ((), "offers no flow"),
        ((Flow(name="a", backend="other"),), 'names backend "other"'),
        ((Flow(name="a", backend="faulty"), Flow(name="a", backend="faulty")), "twice"),
        ((Flow(name="a", backend="faulty", options={"zzz": 1}),), "does not have"),
        ((Flow(name="a", backend="faulty", options={"fault": "zzz"}),), "is no choice"),
    ],
)
def test_flows_that_contradict_themselves(flows: tuple[Flow, ...], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_backend(_backend(flows=flows))


def test_a_missing_library_says_how_to_get_it() -> None:
    availability = installed("no-such-distribution", "no_such_module", "toy")
    assert not availability.available
    assert reason_text(availability) == "no-such-distribution is not installed"
    assert availability.install == "pip install 'assay[toy]'"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dynamic": 1}, "dynamic is 1; it must be True or False"),
        ({"needs_sizes": "yes"}, "needs_sizes is 'yes'"),
        ({"integers": None}, "integers is None"),
        ({"forkable": 0}, "forkable is 0"),
        ({"library": ""}, "library names no library"),
        ({"requires": ["numpy"]}, "requires is .*; it must be a tuple"),
        ({"requires": ()}, "it must be a tuple"),
        ({"flows": (Flow(name="broken", backend="faulty", environment="own"),)}, "names an environment"),
    ],
)
def test_abilities_of_a_backend_that_are_declared_wrongly(changes: dict[str, object], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_backend(_backend(**changes))


def test_one_engine_for_every_size_that_takes_one_only() -> None:
    class _Fixed(_Broken):
        def lower(self, model: Path, flow: Flow) -> Engine:  # type: ignore[override]
            size = flow.dims[BATCH][1] if flow.dims else 0

            def run(engine: FaultyEngine, tensors: Tensors) -> dict[str, Tensor]:
                outputs = FaultyEngine.run(engine, tensors)
                right = next(iter(tensors.values())).shape[0] in (0, size)
                return outputs if right else {name: output * 0 for name, output in outputs.items()}

            return _with_methods(super().lower(model, flow), run=run)

    kind = type("Fixed", (_Fixed,), {"__module__": Faulty.__module__, "__qualname__": "Faulty"})
    with pytest.raises(AssertionError, match="is off by"):
        check_backend(kind())
    fixed = {"dynamic": False, "__module__": Faulty.__module__, "__qualname__": "Faulty"}
    check_backend(type("Fixed", (_Fixed,), fixed)())


def _with_methods(engine: Engine, **methods: object) -> Engine:
    engine.__class__ = type("Able", (FaultyEngine,), methods)
    return engine


def _engine(**methods: object) -> type[_Broken]:
    """A backend whose loaded engine has these methods beside its own."""

    class _Able(_Broken):
        def load(self, folder: Path, flow: Flow) -> Engine:  # type: ignore[override]
            return _with_methods(super().load(folder, flow), **methods)

    return _Able


def _spoil(engine: object, feeds: Tensors, *rest: object) -> tuple[OperatorTime, ...]:
    next(iter(feeds.values())).fill(7.0)
    return ()


@pytest.mark.parametrize(
    ("method", "does", "words"),
    [
        ("bind", lambda self, feeds: lambda: _spoil(self, feeds), "bind wrote into the input"),
        ("device_call", lambda self, feeds: lambda: -1.0, "device_call gives -1.0 seconds"),
        ("call_times", lambda self, feeds, seconds: (), "call_times gives the time of no call"),
        ("call_times", lambda self, feeds, seconds: (0.0,), "call_times gives 0.0"),
        ("operator_times", _spoil, "operator_times wrote into the input"),
        ("operator_times", lambda self, feeds: ("Conv",), "which is no OperatorTime"),
        ("trace", lambda self, feeds, folder: None, "trace wrote no file"),
        ("trace", lambda self, feeds, folder: (folder / "a.json").write_text("[]"), "no event in it has a duration"),
    ],
)
def test_abilities_of_an_engine_that_break_their_promise(method: str, does: object, words: str) -> None:
    kind = type("Able", (_engine(**{method: does}),), {"__module__": Faulty.__module__, "__qualname__": "Faulty"})
    with pytest.raises(AssertionError, match=words):
        check_backend(kind())


_STARTS = """
import threading, time
from msgspec import structs
from assay.testing.faulty_backend import Faulty

class Threaded(Faulty):
    forkable = True
    def prepare(self):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()

class Hasty(Faulty):
    def prepare_to_load(self):
        raise ImportError("half of the library is not enough")

class Lasting(Faulty):
    loaded = False

    def prepare_to_load(self):
        self.loaded = True

    def lower(self, path, flow):
        return super().lower(path, structs.replace(flow, options={"fault": "lie"}) if self.loaded else flow)
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Threaded", "leaves 2 threads"),
        ("Hasty", "half of the library"),
        ("Lasting", "after it has loaded answers otherwise"),
    ],
)
def test_what_is_promised_of_fresh_processes(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "backend_that_starts_badly.py").write_text(_STARTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    backend: Backend = getattr(import_module("backend_that_starts_badly"), name)()
    with pytest.raises(AssertionError, match=words):
        check_backend(backend)


def _reads(answer: Callable[[str], object]) -> Faulty:
    return _backend(read_warnings=lambda _, text: answer(text))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda text: (NativeWarning(WarningCode.OTHER, text=text, count=0),), "a warning would be lost"),
        (lambda text: (text,), "must be a tuple of NativeWarning"),
        (lambda text: None, "must be a tuple of NativeWarning"),
    ],
)
def test_warnings_that_python_prints_may_not_be_lost(answer: Callable[[str], object], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_backend(_reads(answer))


def test_a_reader_of_its_own_marks_alone_conforms() -> None:
    check_backend(_reads(lambda text: ()))
