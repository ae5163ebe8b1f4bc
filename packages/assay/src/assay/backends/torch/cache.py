"""Where Inductor keeps what it compiled: a folder for each process that lives at once, handed on from one to the next.

The compiler writes its libraries in place (torch 2.13). A worker that is ended in the middle, by its time limit mostly, leaves
half of one behind, and every later compilation of that kernel would find it and fail to load it ("file too short"). So no
two living processes share a folder, and what its last owner left unfinished is removed.
"""

from __future__ import annotations

import fcntl
import functools
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.models.files import user_cache

VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
_OF_TORCH = "torchinductor_"
"""How the folder begins that it takes where nobody names one."""


@functools.cache
def own_folder() -> Path | None:
    """The first folder that no living process has, for the life of this one; None where the user's variable names one. torch itself sets
    the variable, too, to a folder of the temporary files of the job that exported first."""
    if VARIABLE in os.environ and not _is_of_torch(Path(os.environ[VARIABLE])):
        return None
    for number in itertools.count():
        folder = user_cache() / "inductor" / f"worker-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(
                lock, fcntl.LOCK_EX | fcntl.LOCK_NB
            )  # The kernel gives it up with the process, however that ends.
        except BlockingIOError:
            os.close(lock)
            continue
        os.environ[VARIABLE] = str(folder)
        return folder
    return None


def _is_of_torch(folder: Path) -> bool:
    """Among the temporary files of this job, or of one that has ended."""
    temporary = folder.parent == Path(tempfile.gettempdir()) or not folder.parent.exists()
    return temporary and folder.name.startswith(_OF_TORCH)


@functools.cache
def clean_folder() -> None:
    """Once in a process, before it compiles anything."""
    from torch._inductor import codecache

    if folder := own_folder():
        remove_unfinished(folder)
        # torch 2.13 keeps its compiled headers beside the temporary files, whatever the variable says: each worker made them again.
        headers = folder / "precompiled_headers"
        codecache._HEADER_DIR, codecache._HEADER_LOCK_DIR = str(headers), str(headers / "locks")


def remove_unfinished(folder: Path) -> None:
    """Beside `NAME.so` its builder has a folder of its own for as long as it builds, which stays where it does not end."""
    from torch._inductor.cpp_builder import _BUILD_TEMP_DIR

    ending = f"_{_BUILD_TEMP_DIR}"
    for building in list(folder.rglob(f"*{ending}")):
        for left in building.parent.glob(f"{building.name.removesuffix(ending)}.*"):
            left.unlink()
        shutil.rmtree(building)


@contextmanager
def compiler_traces_removed() -> Iterator[None]:
    """What compiling leaves in a process is put back, else each job would need a new one: Inductor (torch 2.13) raises the limit of
    recursion, and names an address in a variable that a library reads once, as it is loaded."""
    limit, known = sys.getrecursionlimit(), set(os.environ)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        for name in set(os.environ) - known:
            del os.environ[name]
