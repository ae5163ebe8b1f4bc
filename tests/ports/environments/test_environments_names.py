"""From a name to an interpreter: what is known, what is locked, what is not to be had."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from assay.core.environment import EnvironmentSpec
from assay.core.flow import Flow
from assay.environments import environments as module
from assay.environments.environments import Environments
from assay.environments.installer import Installer
from assay.environments.link_package import link_assay
from assay.environments.pythons import find_python, minor_of
from assay.environments.uv import find_installer
from assay.errors import EnvironmentFailed

OWN = EnvironmentSpec("own", ("tiny==1.0",))
SHIPPED = EnvironmentSpec("big", ("tiny==2.0",), shipped_by="faulty")
FLOW = Flow("faulty@own", "faulty", environment="own")


class _Recording:
    """The real installer, and what it was asked."""

    name = "recording"

    def __init__(self) -> None:
        self.real: Installer = find_installer()
        self.asked: list[tuple[str, ...]] = []

    def resolve(self, requirements: Sequence[str], python: str) -> str:
        self.asked.append(tuple(requirements))
        return self.real.resolve(requirements, python)

    def install(self, folder: Path, python: str, pins: Path) -> None:
        self.real.install(folder, python, pins)


@pytest.fixture
def installer(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> _Recording:
    """Without the needs of a worker, which lie in no folder of wheels here."""
    monkeypatch.setattr(module, "worker_requirements", tuple)
    return _Recording()


def _make(tmp_path: Path, installer: Installer, *specs: EnvironmentSpec, tell=lambda text: None) -> Environments:
    named = {spec.name: spec for spec in specs}
    return Environments(tmp_path / "locks", lambda: named, cache=tmp_path / "cache", tell=tell, installer=installer)


def test_the_first_use_resolves_and_builds_and_the_second_does_neither(tmp_path: Path, installer: _Recording) -> None:
    said: list[str] = []
    for expected in (2, 2):
        found = _make(tmp_path, installer, OWN, tell=said.append).interpreter("own")
        assert len(said) == expected
    line = "import sys, tiny; print(tiny.VERSION, sys.prefix)"
    done = subprocess.run(
        [found.program, "-c", line], capture_output=True, text=True, env=found.environ({}), check=True
    )
    version, prefix = done.stdout.split()
    assert version == "1.0"
    assert Path(prefix).parent == tmp_path / "cache"
    assert installer.asked == [("tiny==1.0",)]
    assert found.environ({})["NPY_PROMOTION_STATE"] == "weak"


def test_the_drivers_own_needs_nothing(tmp_path: Path, installer: _Recording) -> None:
    environments = _make(tmp_path, installer)
    assert environments.interpreter("").program == sys.executable
    assert environments.availability(Flow("reference", "reference")).available
    assert not environments.availability(Flow("x", "no-such-backend")).available


def test_what_is_asked_anew_is_resolved_anew(tmp_path: Path, installer: _Recording) -> None:
    _make(tmp_path, installer, OWN).build("own")
    changed = msgspec.structs.replace(OWN, requires=("tiny",))
    state = _make(tmp_path, installer, changed).state("own")
    assert state.trouble == "not built"
    assert _make(tmp_path, installer, changed).build("own").trouble == ""
    assert installer.asked == [("tiny==1.0",), ("tiny",)]


def test_a_lock_of_the_users_is_kept_and_never_replaced_unasked(tmp_path: Path, installer: _Recording) -> None:
    lock = tmp_path / "own.lock"
    kept = msgspec.structs.replace(OWN, lock=str(lock))
    _make(tmp_path, installer, kept).build("own")
    before = lock.read_text()
    changed = _make(tmp_path, installer, msgspec.structs.replace(kept, requires=("tiny==2.0",)))
    with pytest.raises(EnvironmentFailed, match="assay env lock own"):
        changed.interpreter("own")
    assert lock.read_text() == before
    changed.lock("own")
    assert "tiny==2.0" in lock.read_text()
    assert changed.build("own").trouble == ""


def test_an_interrupted_run_finds_its_environment_without_the_config(tmp_path: Path, installer: _Recording) -> None:
    built = _make(tmp_path, installer, OWN).interpreter("own")
    assert _make(tmp_path, installer).interpreter("own") == built


def test_what_a_backend_ships_is_built_by_command_only(tmp_path: Path, installer: _Recording) -> None:
    environments = _make(tmp_path, installer, SHIPPED)
    flow = Flow("big", "faulty", environment="big")
    answer = environments.availability(flow)
    assert not answer.available
    assert "tiny==2.0" in answer.reason
    assert answer.install == "assay env build big"
    assert installer.asked == []
    environments.build("big")
    elsewhere = Environments(tmp_path / "other history", lambda: {"big": SHIPPED}, cache=tmp_path / "cache")
    assert elsewhere.interpreter("big").program.endswith("bin/python")


def test_a_glance_builds_nothing_and_looks_for_packages_alone(tmp_path: Path, installer: _Recording) -> None:
    environments = _make(tmp_path, installer, OWN)
    answer = environments.at_a_glance(FLOW)
    assert (answer.available, answer.install) == (False, "assay env build own")
    assert answer.reason == "its environment 'own' (tiny==1.0) is not built"
    assert installer.asked == []
    site = next(Path(environments.build("own").folder).glob("lib/python*/site-packages"))
    (site / "tiny.py").unlink()
    assert "tiny.py is gone" in environments.state("own").trouble
    assert "msgspec" in _make(tmp_path, installer, OWN).at_a_glance(FLOW).reason, "its interpreter was asked"
    shutil.rmtree(next(site.glob("tiny-*.dist-info")))
    assert "broken: tiny is gone" in _make(tmp_path, installer, OWN).at_a_glance(FLOW).reason


def test_one_that_cannot_be_had_is_told_once_and_hurts_no_other(tmp_path: Path, installer: _Recording) -> None:
    bad = EnvironmentSpec("bad", ("tiny==9",))
    environments = _make(tmp_path, installer, OWN, bad)
    for _ in range(2):
        answer = environments.availability(Flow("faulty@bad", "faulty", environment="bad"))
        assert not answer.available
        assert "tiny==9" in answer.reason
        with pytest.raises(EnvironmentFailed):
            environments.interpreter("bad")
    assert len(installer.asked) == 1
    assert environments.interpreter("own").program
    with pytest.raises(EnvironmentFailed, match=r"\[environments\.never\]"):
        environments.interpreter("never")


def test_an_environment_that_lacks_what_a_worker_needs_says_so(tmp_path: Path, installer: _Recording) -> None:
    """tiny alone: assay is on its path, msgspec is not."""
    answer = _make(tmp_path, installer, OWN).availability(FLOW)
    assert not answer.available
    assert "own" in answer.reason
    assert "msgspec" in answer.reason


def test_removing_frees_and_keeps_the_lock(tmp_path: Path, installer: _Recording) -> None:
    environments = _make(tmp_path, installer, OWN)
    assert environments.remove("own") == 0
    state = environments.build("own")
    assert Path(state.folder).is_dir()
    assert environments.remove("own") > 0
    assert not Path(state.folder).exists()
    assert environments.build("own").digest == state.digest
    assert len(installer.asked) == 1


def test_assay_is_linked_with_its_entry_points_and_nothing_else(tmp_path: Path) -> None:
    place = link_assay(tmp_path)
    assert link_assay(tmp_path) == place
    names = sorted(path.name for path in place.iterdir())
    assert len(names) == 2
    assert names[0] == "assay"
    line = "import importlib.metadata as m; print(len(m.entry_points(group='assay.backends')))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", line], capture_output=True, text=True, env={"PYTHONPATH": str(place)}, check=True
    )
    assert int(done.stdout) >= 4


def test_a_python_is_found_by_its_minor_version_or_its_path() -> None:
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert find_python("", "e") == (sys.executable, minor)
    assert find_python(minor, "e") == (sys.executable, minor)
    assert find_python(sys.executable, "e") == (sys.executable, minor)
    assert minor_of("/bin/true") == ""


@pytest.mark.parametrize(
    ("wanted", "told"),
    [("3.10", "3.11 or newer"), ("3.99", "not on this machine"), ("/no/python", "no Python that starts")],
)
def test_a_python_that_cannot_serve_is_refused(wanted: str, told: str) -> None:
    with pytest.raises(EnvironmentFailed, match=told):
        find_python(wanted, "old")
