"""The files that `[launch] send` names: they lie below the working folder, and a name that sends nothing is refused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from assay.commands import remote_machines
from assay.commands.machine_address import said_address, sent_files
from assay.config.assay_toml import load_config
from assay.errors import BadPolicy

FILES = ("words.txt", "data/a.bin", "data/deep/b.bin", "data/a[1].txt", "other.txt")
DATA = ("data/a.bin", "data/a[1].txt", "data/deep/b.bin")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "project"
    (here / "empty").mkdir(parents=True)
    for name in FILES:
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).touch()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").touch()
    monkeypatch.chdir(here)
    return here


def _sent(*patterns: str) -> tuple[str, ...]:
    Path("assay.toml").write_text(f"[launch]\nsend = {list(patterns)}\n")
    return sent_files()


def test_files_to_send_are_named_or_matched(folder: Path) -> None:
    assert sent_files() == ()
    assert _sent("words.txt", "data/**", "words.txt") == ("words.txt", *DATA)
    assert _sent("data/a[1].txt") == ("data/a[1].txt",), "a name comes before a pattern"
    assert _sent(str(folder / "words.txt")) == ("words.txt",)


@pytest.mark.parametrize("name", ["data", "data/", "./data"])
def test_of_a_folder_all_files_are_sent(name: str) -> None:
    assert _sent(name) == DATA


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("nowhere.txt", "matches no file of the working folder"),
        ("empty", "matches no file of the working folder"),
        ("empty/**", "matches no file of the working folder"),
        ("../words.txt", "lies outside of the working folder"),
        ("/etc/passwd", "lies outside of the working folder"),
    ],
)
def test_a_file_to_send_that_is_not_here_is_named(pattern: str, sentence: str) -> None:
    with pytest.raises(BadPolicy) as refused:
        _sent(pattern)
    assert str(refused.value).startswith(f'assay.toml: launch.send: "{pattern}" {sentence}: name files below it')


@pytest.mark.parametrize(
    ("link", "target", "pattern"),
    [("link", "../secret", "link/key"), ("link", "../secret", "link"), ("data/key", "../../secret/key", "data/**")],
)
def test_a_link_out_of_the_folder_is_named_and_nothing_is_sent(link: str, target: str, pattern: str) -> None:
    Path(link).symlink_to(target)
    with pytest.raises(BadPolicy, match=rf"the link {link} leads out of the working folder"):
        _sent(pattern)


def test_a_link_within_the_folder_is_followed() -> None:
    Path("near.txt").symlink_to("words.txt")
    assert _sent("near.txt") == ("near.txt",)


@pytest.mark.parametrize("on", ["", "ray"])
def test_the_configuration_that_is_read_names_what_is_sent(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Sequence[str]] = []

    class Launchers(nullcontext[Any]):
        def share_by(self, store: str, files: Sequence[str] = ()) -> None:
            sent.append(files)

    monkeypatch.setattr(remote_machines, "launchers_of", lambda address: lambda *settings: Launchers())
    Path("assay.toml").write_text('[launch]\nsend = ["other.txt"]\n')
    Path("m.onnx").touch()
    Path("ci.toml").write_text('[launch]\non = "ray"\nsend = ["words.txt"]\n[[model]]\npath = "m.onnx"\n')
    for config in (load_config(Path("ci.toml")), None):
        with remote_machines.RemoteMachines(said_address(on or "ray" if config is None else on, config), 1, 1):
            pass
    assert sent == [("words.txt",), ("other.txt",)]
