"""What older releases of OpenVINO do otherwise."""

from __future__ import annotations

import sys
from io import BytesIO
from types import ModuleType

import pytest

from assay.backends.openvino.defaults import GROUP_SIZE, NONE
from assay.backends.openvino.older import exported, library, of_release


class _Core:
    def __init__(self, *known: str) -> None:
        self.known = known

    def get_property(self, device: str, name: str) -> tuple[str, ...]:
        assert (device, name) == ("CPU", "SUPPORTED_PROPERTIES")
        return self.known


class _Compiled:
    def __init__(self, given: object) -> None:
        self.given = given

    def export_model(self) -> object:
        return self.given


def test_what_an_older_release_does_not_do_is_not_turned_off() -> None:
    config: dict[str, str | int] = {"INFERENCE_NUM_THREADS": 1, GROUP_SIZE: NONE}
    assert of_release(_Core("INFERENCE_NUM_THREADS"), config) == {"INFERENCE_NUM_THREADS": "1"}
    assert of_release(_Core("INFERENCE_NUM_THREADS", GROUP_SIZE), config) == {
        "INFERENCE_NUM_THREADS": "1",
        GROUP_SIZE: "0",  # 2024.1 takes no number of Python
    }


@pytest.mark.parametrize("config", [{GROUP_SIZE: 32}, {"KV_CACHE_PRECISION": "u8"}])
def test_what_is_asked_for_is_not_left_out(config: dict[str, str | int]) -> None:
    """The release refuses it, and says so."""
    assert of_release(_Core(), config) == {name: str(value) for name, value in config.items()}


@pytest.mark.parametrize("given", [b"file", BytesIO(b"file")])
def test_a_compiled_model_is_bytes(given: object) -> None:
    assert exported(_Compiled(given)) == b"file"


@pytest.mark.parametrize("older", [False, True])
def test_the_classes_are_found_where_the_release_has_them(older: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """2023.0 has them in openvino.runtime alone: every model was refused there."""
    new, runtime = ModuleType("openvino"), ModuleType("openvino.runtime")
    holder = runtime if older else new
    holder.__dict__["Core"] = _Core
    new.__dict__["runtime"] = runtime
    monkeypatch.setitem(sys.modules, "openvino", new)
    monkeypatch.setitem(sys.modules, "openvino.runtime", runtime)
    assert library() is holder
