"""Entry points: ours, a third party's, and broken ones. The stranger's distributions exist in memory only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from types import ModuleType
from typing import Any

import pytest

from assay import plugins
from assay.core.flow import Flow
from assay.errors import BrokenFlow, HarnessError, UnknownName


class Stranger(metadata.Distribution):
    """An installed distribution with these files."""

    def __init__(self, entry_points: str) -> None:
        self.files_by_name = {
            "METADATA": "Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n",
            "entry_points.txt": entry_points,
        }

    def read_text(self, filename: str) -> str | None:
        return self.files_by_name.get(filename)

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(path)


class Finder(metadata.DistributionFinder):
    def __init__(self, *distributions: metadata.Distribution) -> None:
        self.distributions = distributions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        return None

    def find_distributions(self, context: Any = None) -> Iterator[metadata.Distribution]:
        if context is None or context.name in (None, "stranger"):
            yield from self.distributions


class Fast:
    """A backend with two flows."""

    flows = (Flow(name="fast", backend="fast"), Flow(name="fast-f16", backend="fast", precision="float16"))


class Twin:
    flows = (Flow(name="fast", backend="twin"),)


class Cuckoo:
    """It comes before ours in the alphabet, and takes the name of a flow of ours."""

    flows = (Flow(name="reference", backend="aaa"),)


class Angry:
    def __init__(self) -> None:
        raise RuntimeError("no licence")


ENTRY_POINTS = """
[assay.backends]
aaa = stranger_backends:Cuckoo
fast = stranger_backends:Fast
twin = stranger_backends:Twin
angry = stranger_backends:Angry
gone = stranger_backends:Gone
absent = stranger_absent:Backend
openvino = stranger_backends:Fast
[assay.suites]
lost = stranger_absent:Suite
[assay.colours]
red = stranger_backends:Fast
onnxruntime = stranger_absent:Backend
"""


@pytest.fixture(autouse=True)
def _stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("stranger_backends")
    module.__dict__.update(Cuckoo=Cuckoo, Fast=Fast, Twin=Twin, Angry=Angry)
    monkeypatch.setitem(sys.modules, "stranger_backends", module)
    monkeypatch.setattr(sys, "meta_path", [Finder(Stranger(ENTRY_POINTS)), *sys.meta_path])


def test_names_import_nothing() -> None:
    assert plugins.names("assay.colours") == ["onnxruntime", "red"]
    assert {"absent", "fast", "onnxruntime", "openvino", "reference"} <= set(plugins.names("assay.backends"))
    assert "stranger_absent" not in sys.modules
    assert plugins.names("assay.nothing") == []


def test_load() -> None:
    assert plugins.load("assay.backends", "fast") is Fast


def test_a_stranger_does_not_replace_ours() -> None:
    point = plugins._points("assay.backends")["openvino"]
    assert point.value == "assay.backends.openvino.backend:OpenVINO"


@pytest.mark.parametrize(
    ("group", "name", "kind", "sentence"),
    [
        ("backends", "fasst", UnknownName, "there is no backend 'fasst'; perhaps you mean 'fast'"),
        ("colours", "zzz", UnknownName, "there is no colour 'zzz'; choose one of onnxruntime, red"),
        ("nothings", "zzz", UnknownName, "there is no nothing 'zzz'; choose one of (none)"),
        (
            "colours",
            "openvino",
            UnknownName,
            "there is no colour 'openvino' here; run pip install 'assay[openvino]'",
        ),
        (
            "colours",
            "onnxruntime",
            UnknownName,
            "colour 'onnxruntime' needs the package 'stranger_absent'; run pip install 'assay[onnxruntime]'",
        ),
        (
            "backends",
            "absent",
            HarnessError,
            "backend 'absent' of stranger is broken (ModuleNotFoundError: No module named 'stranger_absent'); "
            "reinstall or remove it",
        ),
    ],
)
def test_load_refuses_with_this_sentence(group: str, name: str, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind) as caught:
        plugins.load(f"assay.{group}", name)
    assert str(caught.value) == sentence


def test_broken_plugins_do_not_break_the_listing() -> None:
    catalogue = plugins.catalogue()
    assert isinstance(catalogue.backends["fast"], Fast)
    assert set(catalogue.flows) >= {"fast", "fast-f16"}
    strangers = {name: catalogue.broken[name] for name in ("aaa", "absent", "angry", "gone", "twin")}
    assert strangers == {
        "aaa": "backend 'aaa' offers the flow 'reference', which 'reference' has; remove one of them",
        "absent": "backend 'absent' of stranger is broken (ModuleNotFoundError: No module named 'stranger_absent'); "
        "reinstall or remove it",
        "angry": "backend 'angry' of stranger is broken (RuntimeError: no licence); reinstall or remove it",
        "gone": "backend 'gone' of stranger is broken (AttributeError: module 'stranger_backends' has no attribute "
        "'Gone'); reinstall or remove it",
        "twin": "backend 'twin' offers the flow 'fast', which 'fast' has; remove one of them",
    }


def test_find_flow() -> None:
    assert plugins.find_flow("fast-f16") == Fast.flows[1]


def test_a_flow_called_after_its_backend_imports_no_other_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    load = plugins.load
    monkeypatch.setattr(plugins, "load", lambda group, name: imported.append(name) or load(group, name))
    assert plugins.find_flow("fast-f16") == Fast.flows[1]
    assert plugins.find_flow("fast@there").environment == "there"
    assert set(imported) == {"fast"}


def test_a_flow_of_a_broken_backend_ends_the_run() -> None:
    from assay.commands.run import find_flows

    with pytest.raises(BrokenFlow, match=r"^flow 'angry-f16' cannot be used: backend 'angry' of stranger is broken"):
        find_flows(["fast", "angry-f16"])
    with pytest.raises(UnknownName, match="perhaps you mean 'fast'"):
        find_flows(["fats"])


def test_a_broken_suite_is_listed_beside_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    from assay.cli.suite import list_suites

    list_suites()
    output = " ".join(capsys.readouterr().out.split())
    assert "lost cannot be used: suite 'lost' of stranger is broken (ModuleNotFoundError" in output
    assert "onnx-node every node case" in output


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fast-f61", "there is no flow 'fast-f61'; perhaps you mean 'fast-f16' (assay flows lists them all)"),
        ("ncnn", "there is no flow 'ncnn'; choose one of ncnn-f32, ncnn-fp16-storage (assay flows lists them all)"),
        (
            "angry-f16",
            "flow 'angry-f16' is not available: backend 'angry' of stranger is broken (RuntimeError: no licence); "
            "reinstall or remove it",
        ),
    ],
)
def test_an_unknown_flow(name: str, sentence: str) -> None:
    with pytest.raises(UnknownName) as caught:
        plugins.find_flow(name)
    assert str(caught.value) == sentence
