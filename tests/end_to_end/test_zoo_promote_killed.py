"""A promotion that is killed, or that meets another one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adder_zoo import accepted, empty_zoo, submitted
from assay_zoo.index import index_text
from assay_zoo.manifest import current_folder, read_manifest
from assay_zoo.promote import promote
from assay_zoo.records import write_record


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    return empty_zoo(tmp_path / "zoo")


KILLED = """
import os, signal, sys
from pathlib import Path
import msgspec
from assay_zoo import promote as module
from assay_zoo.records import read_record

def counted(name, left):
    real = getattr(os, name)
    def call(*arguments, **options):
        if not arguments or "/dev/" not in str(arguments[0]):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    setattr(os, name, call)

root, what = Path(sys.argv[1]), sys.argv[2]
record = read_record(root.parent / "record.json")
for line in sys.stdin:
    if not (pid := os.fork()):
        left = [int(line)]
        for name in ("replace", "rename", "unlink", "rmdir", "mkdir", "fsync"):
            counted(name, left)
        if what == "promote":
            module.promote(root, "adder", record, "me")
        else:
            module.rollback(root, "adder", "me", reason="bad")
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@contextmanager
def changing(root: Path, what: str) -> Iterator[Callable[[int], bool]]:
    """Make the change in a process of its own, which is killed after so many calls that change the disk; whether it was cut off."""
    command = [sys.executable, "-c", KILLED, str(root), what]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd="/", stdin=pipe, stdout=pipe, text=True) as imported:
        assert imported.stdin is not None
        assert imported.stdout is not None

        def killed_after(steps: int) -> bool:
            print(steps, file=imported.stdin, flush=True)
            code = int(imported.stdout.readline())  # type: ignore[union-attr]
            assert code in (0, -9)
            return code == -9

        yield killed_after
        imported.stdin.close()


def test_a_kill_at_any_step_leaves_the_old_or_the_new(zoo: Path, tmp_path: Path) -> None:
    accepted(zoo, "1.0")
    inspection = submitted(zoo, "1.1")
    write_record(tmp_path / "record.json", inspection)
    before = tmp_path / "before"
    shutil.copytree(zoo, before)
    seen = set()
    with changing(zoo, "promote") as killed_after:
        for step in range(200):
            shutil.rmtree(zoo)
            shutil.copytree(before, zoo)
            cut = killed_after(step)
            served = read_manifest(zoo).models["adder"].current
            seen.add(served)
            folder = current_folder(zoo, "adder")
            assert folder is not None
            assert {path.name for path in folder.iterdir()} == {"model.onnx", "metadata.toml"}
            assert f'version = "{served}"' in (folder / "metadata.toml").read_text()
            change = promote(zoo, "adder", inspection, "me")
            assert change.current == "1.1"
            _whole(zoo)
            if not cut:
                break
    assert not cut
    assert seen == {"1.0", "1.1"}
    assert step > 10


def _whole(root: Path) -> None:
    """The zoo as it is after a promotion that nobody disturbed."""
    manifest = read_manifest(root)
    assert [version.version for version in manifest.models["adder"].versions] == ["1.0", "1.1"]
    assert index_text(manifest) in (root / "README.md").read_text()
    left = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    models = {f"models/adder/{v}/{f}" for v in ("1.0", "1.1") for f in ("model.onnx", "metadata.toml")}
    assert left == {
        "zoo.toml", "README.md", "manifest.json", ".assay/zoo.lock", *models,
    }  # fmt: skip


def test_a_kill_within_a_rollback_leaves_the_old_or_the_new(zoo: Path, tmp_path: Path) -> None:
    accepted(zoo, "1.0")
    inspection = submitted(zoo, "1.1")
    write_record(tmp_path / "record.json", inspection)
    promote(zoo, "adder", inspection, "me")
    before = tmp_path / "before"
    shutil.copytree(zoo, before)
    seen = set()
    with changing(zoo, "rollback") as killed_after:
        for step in range(50):
            shutil.rmtree(zoo)
            shutil.copytree(before, zoo)
            cut = killed_after(step)
            seen.add(read_manifest(zoo).models["adder"].current)
            if not cut:
                break
    assert seen == {"1.0", "1.1"}


def test_two_promotions_at_once_are_one_after_the_other(zoo: Path, tmp_path: Path) -> None:
    write_record(tmp_path / "record.json", submitted(zoo, "1.0"))
    command = [sys.executable, "-c", KILLED, str(zoo), "promote"]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(command, cwd="/", stdin=pipe, stdout=pipe, text=True) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        print(100_000, file=process.stdin, flush=True)
    assert [process.communicate(timeout=600)[0].split() for process in both] == [["0"], ["0"]]
    assert len(read_manifest(zoo).models["adder"].versions) == 1
    assert os.listdir(zoo / "submissions") == []
