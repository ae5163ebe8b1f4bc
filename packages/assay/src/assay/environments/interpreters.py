"""How a worker is started in an environment that is built."""

from __future__ import annotations

import os

from assay.core.environment import Interpreter
from assay.environments.cache import Cache
from assay.environments.link_package import link_assay
from assay.environments.lock import Lock, lock_text


def interpreter_of(cache: Cache, lock: Lock) -> Interpreter:
    """Of the environment of that lock, which is there."""
    place, link = cache.place(lock), link_assay(cache.folder / "links")
    return Interpreter(
        str(place / "bin" / "python"),
        {
            "NPY_PROMOTION_STATE": "weak",  # numpy 1 gives the types of numpy 2: one float32 and 1.0 are a float32
            "PATH": f"{place / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONHOME": None,
            "PYTHONNOUSERSITE": "1",
            "PYTHONPATH": str(link),
            "VIRTUAL_ENV": str(place),
        },
        lock_text(lock),
    )
