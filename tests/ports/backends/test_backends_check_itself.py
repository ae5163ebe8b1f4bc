"""The conformance check goes red for every promise that is broken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.backends.availability import installed
from assay.core.flow import Flow, Option
from assay.errors import InvalidModel
from assay.ports import Engine
from assay.testing.backend_checks import check_backend
from assay.testing.faulty_backend import Faulty


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
    found = installed("no-such-distribution", "no_such_module", "toy")
    assert not found.available
    assert found.reason == "no-such-distribution is not installed."
    assert found.install == "pip install 'assay[toy]'"
