"""Which names of an installed package are modules: nothing of it is imported."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path


@lru_cache(maxsize=4096)
def is_package_module(path: str) -> bool:
    """By the files of the package; the package itself is one."""
    top, *parts = path.split(".")
    if not parts:
        return True
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return False
    for folder in map(Path, (spec.submodule_search_locations or ()) if spec else ()):
        above = folder.joinpath(*parts[:-1])
        if (above / parts[-1]).is_dir() or any(above.glob(f"{parts[-1]}.py")) or any(above.glob(f"{parts[-1]}.*so")):
            return True
    return False
