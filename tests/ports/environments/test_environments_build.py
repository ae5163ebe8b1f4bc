"""uv, for real: resolve, lock, build, repair, and two builders at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path

import msgspec
import pytest

from assay.environments.cache import Cache, broken, size_bytes
from assay.environments.installer import Installer
from assay.environments.interpreters import interpreter_of
from assay.environments.lock import Lock
from assay.environments.uv import Uv, find_installer
from assay.errors import EnvironmentFailed
from assay.launch.ray.node_environments import on_this_node

MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"


def _uv() -> Installer:
    installer_found = find_installer()
    assert isinstance(installer_found, Uv), "uv is a development dependency of assay"
    return installer_found


@pytest.fixture
def installer() -> Installer:
    return _uv()


def _lock(installer: Installer, *requirements: str) -> Lock:
    return Lock(requirements, MINOR, installer.resolve(requirements, sys.executable))


def _say(place: Path) -> str:
    """What the installed script prints: it finds its interpreter where the environment lies now."""
    done = subprocess.run([str(place / "bin" / "tiny-say")], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_an_environment_holds_what_was_resolved(installer: Installer, wheels: Path, tmp_path: Path) -> None:
    lock = _lock(installer, "picky")
    assert lock.versions == {"picky": "1.0", "tiny": "1.0"}
    assert lock.pins.count("--hash=sha256:") == 2
    assert str(wheels) not in lock.pins
    assert "index" not in lock.pins
    cache = Cache(tmp_path / "cache")
    assert cache.state(lock) == "missing"
    place = cache.build(lock, installer, sys.executable, pytest.fail)
    assert cache.state(lock) == ""
    assert _say(place) == "1.0"
    assert sorted(path.name for path in cache.folder.iterdir()) == [f".{lock.digest}.lock", lock.digest]
    assert cache.remove(lock) == 0 or not place.exists()
    assert cache.state(lock) == "missing"


def test_without_uv_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentFailed, match=r"run `pip install 'assay\[environments\]'`"):
        find_installer()


def test_what_cannot_be_resolved_has_its_reason(installer: Installer, wheels: Path) -> None:
    with pytest.raises(EnvironmentFailed, match="tiny") as caught:
        installer.resolve(("picky", "tiny==2.0"), sys.executable)
    assert "\n" not in str(caught.value)
    with pytest.raises(EnvironmentFailed, match="nowhere-to-be-found"):
        installer.resolve(("nowhere-to-be-found",), sys.executable)
    with pytest.raises(EnvironmentFailed, match="no such thing"):
        installer.resolve(("no such thing",), sys.executable)


def test_a_wheel_that_is_not_the_one_locked_is_refused(installer: Installer, wheels: Path, tmp_path: Path) -> None:
    lock = _lock(installer, "tiny==1.0")
    forged = Lock(lock.requires, MINOR, "tiny==1.0 --hash=sha256:" + "0" * 64 + "\n")
    cache = Cache(tmp_path / "cache")
    with pytest.raises(EnvironmentFailed, match=r"(?i)hash"):
        cache.build(forged, installer, sys.executable, pytest.fail)
    assert not cache.place(forged).exists()
    assert not list(cache.folder.glob("*.new*"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("lib/python*/site-packages/tiny.py", "tiny.py is gone"),
        ("lib/python*/site-packages/tiny-1.0.dist-info", "tiny is gone"),
        ("assay-environment.json", "it was not finished"),
        ("bin/python", "its interpreter is gone"),
        ("lib", "it has no packages"),
    ],
)
def test_what_is_broken_is_seen_and_built_again(wheels: Path, tmp_path: Path, damage: str, message: str) -> None:
    installer, cache, said = _uv(), Cache(tmp_path / "cache"), []
    lock = _lock(installer, "tiny==1.0")
    place = cache.build(lock, installer, sys.executable, pytest.fail)
    (victim,) = place.glob(damage)
    shutil.rmtree(victim) if victim.is_dir() else victim.unlink()
    assert broken(place, lock) == message
    cache.build(lock, installer, sys.executable, said.append)
    assert message in said[0]
    assert broken(place, lock) == ""
    assert _say(place) == "1.0"
    assert size_bytes(place) > 100


class _Counting:
    """An installer that is slow enough for two builders to meet."""

    name = "counting"

    def __init__(self, real: Installer) -> None:
        self.real, self.built = real, 0

    def resolve(self, requirements: Sequence[str], python: str) -> str:
        return self.real.resolve(requirements, python)

    def install(self, folder: Path, python: str, pins: Path) -> None:
        self.built += 1
        time.sleep(0.3)
        self.real.install(folder, python, pins)


def test_two_that_want_the_same_build_it_once(wheels: Path, tmp_path: Path) -> None:
    installer = _Counting(_uv())
    lock = _lock(installer, "tiny==1.0")
    caches = [Cache(tmp_path / "cache") for _ in range(3)]
    with ThreadPool(3) as pool:
        places = pool.map(lambda cache: cache.build(lock, installer, sys.executable, pytest.fail), caches)
    assert len(set(places)) == 1
    assert installer.built == 1
    assert broken(places[0], lock) == ""


_KILLED = """
import os, signal, sys
from pathlib import Path
from assay.environments.cache import Cache
from assay.environments.interpreters import interpreter_of
from assay.environments.lock import Lock

class Dies:
    name = "dies"
    def install(self, folder, python, pins):
        (folder / "bin").mkdir(parents=True)
        os.kill(os.getpid(), signal.SIGKILL)

Cache(Path(sys.argv[1])).build(Lock(("tiny",), sys.argv[2], sys.argv[3]), Dies(), sys.executable, print)
"""


def test_a_builder_that_is_killed_leaves_nothing_that_counts(wheels: Path, tmp_path: Path) -> None:
    installer, cache = _uv(), Cache(tmp_path / "cache")
    lock = _lock(installer, "tiny==1.0")
    command = [sys.executable, "-c", _KILLED, str(cache.folder), MINOR, lock.pins]
    died = subprocess.run(command, check=False, env=dict(os.environ))
    assert died.returncode == -signal.SIGKILL
    assert cache.state(lock) == "missing"
    assert list(cache.folder.glob("*.new"))
    place = cache.build(lock, installer, sys.executable, pytest.fail)
    assert broken(place, lock) == ""
    assert not list(cache.folder.glob("*.new"))


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentFailed, match="ASSAY_ENVIRONMENTS"):
        Cache(tmp_path / "file" / "below").build(Lock(("x",), MINOR, ""), _uv(), sys.executable, pytest.fail)


def test_another_machine_builds_the_same_once_from_the_text_of_its_lock(
    installer: Installer, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = _lock(installer, "tiny<2")
    ours = interpreter_of(_built(Cache(tmp_path / "driver"), lock, installer), lock)
    monkeypatch.setenv("ASSAY_ENVIRONMENTS", str(tmp_path / "node"))
    theirs = on_this_node("small", ours)
    assert Path(theirs.program).is_relative_to(tmp_path / "node")
    mark = Path(theirs.program).parents[1] / "assay-environment.json"
    made_at = mark.stat().st_mtime_ns
    assert on_this_node("small", ours) == theirs
    assert mark.stat().st_mtime_ns == made_at
    done = subprocess.run([theirs.program, "-c", "import tiny; print(tiny.VERSION)"], capture_output=True, check=True)
    assert done.stdout == b"1.0\n"
    lost = msgspec.structs.replace(ours, lock=ours.lock.replace("1.0", "3.0"))
    with pytest.raises(EnvironmentFailed, match=r"^this node cannot build the environment small: .*tiny") as failed:
        on_this_node("small", lost)
    assert "\n" not in str(failed.value)


def _built(cache: Cache, lock: Lock, installer: Installer) -> Cache:
    cache.build(lock, installer, sys.executable, pytest.fail)
    return cache
