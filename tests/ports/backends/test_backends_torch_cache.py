"""What a compilation that was killed leaves behind must not reach the next one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.backends.torch.cache import VARIABLE, remove_unfinished

_COMPILE = """
from assay.backends.torch.backend import Torch
Torch().prepare()
import torch
from assay.backends.torch.cache import own_folder
from assay.backends.torch.engine import _compiling
with _compiling({"threads": 1, "emulate_precision_casts": False, "tf32": "default", "device": "cpu"}):
    print(float(torch.compile(lambda x: torch.sin(x) + 1)(torch.zeros(3)).sum()), own_folder())
"""
_EXPORT = """
import os, torch
from assay.backends.torch.cache import VARIABLE, clean_folder, own_folder
torch.export.export(torch.nn.ReLU(), (torch.zeros(3),))
clean_folder()
from torch._inductor import codecache
print(own_folder(), os.environ[VARIABLE], codecache._HEADER_DIR, codecache._HEADER_LOCK_DIR)
"""
_HOLD = """
import sys
from assay.backends.torch.cache import own_folder
print(own_folder(), flush=True)
sys.stdin.read()
"""


def _python(code: str, cache: Path, *, given: str = "") -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    environment |= {"ASSAY_CACHE": str(cache)} | ({VARIABLE: given} if given else {})
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.slow
def test_half_a_library_is_compiled_again(tmp_path: Path) -> None:
    answer, errors = _python(_COMPILE, tmp_path).communicate()
    assert answer.split() == ["3.0", str(tmp_path / "inductor" / "worker-0")], errors
    (library,) = (path for path in tmp_path.rglob("*.main.so"))
    whole = library.stat().st_size
    library.write_bytes(b"")
    # As the compiler's driver leaves it where it is killed.
    (library.parent / f"{library.name.removesuffix('.so')}_CxxBuild").mkdir()
    answer, errors = _python(_COMPILE, tmp_path).communicate()
    assert answer.startswith("3.0"), errors
    assert library.stat().st_size == whole
    assert not list(tmp_path.rglob("*_CxxBuild"))


def test_a_worker_that_exported_first_keeps_what_it_compiles(tmp_path: Path) -> None:
    """torch.export sets the variable to a temporary folder, and headers go there in any case: every job compiled them again."""
    said, errors = _python(_EXPORT, tmp_path).communicate()
    own = tmp_path / "inductor" / "worker-0"
    headers = own / "precompiled_headers"
    assert said.split() == [str(own), str(own), str(headers), str(headers / "locks")], errors


def test_what_is_finished_stays(tmp_path: Path) -> None:
    for name in ("a.main.so", "b.main.so", "ab.main.so"):
        (tmp_path / name).touch()
    (tmp_path / "b.main_CxxBuild").mkdir()
    remove_unfinished(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.main.so", "ab.main.so"]


def test_two_living_processes_share_no_folder(tmp_path: Path) -> None:
    first = _python(_HOLD, tmp_path)
    assert first.stdout is not None
    mine = first.stdout.readline().strip()
    second, _ = _python(_HOLD, tmp_path).communicate("")
    assert mine.endswith("worker-0")
    assert second.strip().endswith("worker-1")
    first.kill()
    first.communicate()
    third, _ = _python(_HOLD, tmp_path).communicate("")
    assert third.strip() == mine
    own, _ = _python(_HOLD, tmp_path, given=str(tmp_path)).communicate("")
    assert own.strip() == "None"
