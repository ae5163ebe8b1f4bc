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
from pathlib import Path

from assay.models.files import user_cache

VARIABLE = "TORCHINDUCTOR_CACHE_DIR"


@functools.cache
def own_folder() -> Path | None:
    """The first folder that no living process has, for the life of this one; None where the variable names one already.
    To be called before torch is imported: it sets the variable itself."""
    if VARIABLE in os.environ:
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


@functools.cache
def clean_folder() -> None:
    """Once in a process, before it compiles anything."""
    if folder := own_folder():
        remove_unfinished(folder)


def remove_unfinished(folder: Path) -> None:
    """Beside `NAME.so` its builder has a folder of its own for as long as it builds, which stays where it does not end."""
    from torch._inductor.cpp_builder import _BUILD_TEMP_DIR

    ending = f"_{_BUILD_TEMP_DIR}"
    for building in list(folder.rglob(f"*{ending}")):
        for left in building.parent.glob(f"{building.name.removesuffix(ending)}.*"):
            left.unlink()
        shutil.rmtree(building)
