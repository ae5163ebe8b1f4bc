"""Releases of a package: those of other Pythons, those at hand, and how a script ended in one."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from assay.environments import releases
from assay.environments.releases import ScriptRun, older_releases, releases_at_hand, require_releases
from assay.errors import EnvironmentFailed, UsageError


def test_a_script_that_was_killed_ended_by_its_signal() -> None:
    assert releases._with_signal(ScriptRun(139)).exit_code == -11
    assert releases._with_signal(ScriptRun(1)).exit_code == 1
    assert releases._with_signal(ScriptRun(None)).exit_code is None


def test_older_releases_are_those_of_the_newest_python_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"3.10": ["1.12.0", "1.15.0"], "3.9": ["1.9.0", "1.12.0"]}

    def fake(package: str, python: str = "") -> list[str]:
        if python not in listed:
            raise EnvironmentFailed(f"{package} has none")
        return listed[python]

    monkeypatch.setattr(releases, "list_releases", fake)
    assert older_releases("engine", ["1.15.0", "1.16.0"]) == {"1.9.0": "3.9", "1.12.0": "3.10"}


def test_without_a_registry_what_uv_keeps_is_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = releases.python_tag()
    for place in (
        f"pypi/engine/1.10.0-{tag}-{tag}-linux",
        f"index/0a/engine/1.9.0-{tag}-{tag}-linux",
        "pypi/engine/1.8.0-cp27-x",
    ):
        (tmp_path / "wheels-v8" / place).mkdir(parents=True)
    monkeypatch.setattr(releases, "_uv_cache", lambda: tmp_path)
    assert releases_at_hand("engine") == ["1.9.0", "1.10.0"]
    assert releases_at_hand("Engine") == ["1.9.0", "1.10.0"], "a name as its project writes it"


@pytest.mark.heavy
def test_a_registry_that_cannot_be_reached_is_no_package_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/simple")
    with pytest.raises(EnvironmentFailed, match=r"of engine cannot be listed: the registry cannot be reached$"):
        releases.list_releases("engine")


def test_a_python_that_cannot_be_had_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "has_python", lambda minor: False)
    assert releases.run_with_release("script.py", ["engine"], "1.0", 1.0, "", python="3.7") == ScriptRun(None)


def test_a_release_that_there_is_not_is_told_with_those_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"": ["1.9.0", "1.10.0", "1.10.1", "1.12.0", "1.13.0"], "3.9": ["1.2.0", "1.9.0"]}

    def fake(package: str, python: str = "") -> list[str]:
        if python not in listed:
            raise EnvironmentFailed(f"{package} cannot be listed")
        return listed[python]

    monkeypatch.setattr(releases, "list_releases", fake)
    require_releases("engine", ["1.9.0", "1.13", "1.99.0rc1", "1.99.0+local"])
    with pytest.raises(
        UsageError, match=r"engine has no release 1\.11\.0 for .* near: 1\.10\.0, 1\.10\.1, 1\.12\.0, 1\.13\.0$"
    ):
        require_releases("engine", ["1.9.0", "1.11.0"])
    with pytest.raises(UsageError, match=r"near: 1\.12\.0, 1\.13\.0$"):
        require_releases("engine", ["2099.1"])
    with pytest.raises(
        UsageError, match=r"no release 1\.2\.0 for .* \(it has one for Python 3\.9\); near: 1\.9\.0, 1\.10\.0$"
    ):
        require_releases("engine", ["1.2.0"])
    del listed[""]
    require_releases("engine", ["1.11.0"])


def test_a_package_whose_version_is_a_part_of_the_other_is_given_that_part() -> None:
    assert releases.pinned("ncnn", "1.0.20261020") == "ncnn==1.0.20261020"
    assert releases.pinned("pnnx=={2}", "1.0.20261020") == "pnnx==20261020"
    with pytest.raises(
        UsageError, match=r"the release '20261020' has too few parts: pnnx goes by a later one; give it in full"
    ):
        releases.pinned("pnnx=={2}", "20261020")
