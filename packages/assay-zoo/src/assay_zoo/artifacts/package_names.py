"""Names that the code of a package speaks of: what it never asks of a value, a submission may give one."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

_APART = ("tests", "testing", "_vendor")
"""Folders of a package that nobody's values come to."""
_MOST_NAMES = 100
"""That are looked for: of more, each may be asked for."""


@lru_cache(maxsize=_MOST_NAMES)
def may_ask_for(package: str, name: str) -> bool:
    """Whether the Python code of an installed package has `name` as an attribute, a method or a text. True where that cannot be read:
    of Python itself, of what is not installed, of one compiled file. Nothing is imported."""
    folder = _folder(package)
    if folder is None or may_ask_for.cache_info().misses > _MOST_NAMES:
        return True
    asked = re.compile(rf"(?:\.\s*|\bdef |\bclass |[\"']){re.escape(name)}\b".encode())
    files = (file for file in folder.rglob("*.py") if not set(file.relative_to(folder).parts) & set(_APART))
    return any(asked.search(file.read_bytes()) for file in files)


def _folder(package: str) -> Path | None:
    if package in sys.stdlib_module_names:
        return None
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec and spec.origin and Path(spec.origin).name == "__init__.py" else None
