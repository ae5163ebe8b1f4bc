"""The tools that a zoo's checks may use, put together: the house, a scratch folder, and the sandbox."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.faces.composition import open_house
from assay.ports import Sandbox
from assay.zoo.place import Tools


@contextmanager
def open_tools(root: Path, history: str = "") -> Iterator[Tools]:
    """`history` is a folder or a URL as everywhere; "": `.assay` of the zoo. The scratch folder is gone afterwards."""
    with (
        open_house(history or str(root / ".assay")) as house,
        tempfile.TemporaryDirectory(dir=house.folder, prefix="zoo-") as scratch,
    ):
        yield Tools(house=house, scratch=Path(scratch).absolute(), sandbox=_sandbox())


def _sandbox() -> Sandbox | None:
    """Bubblewrap, where this machine can hold it."""
    try:
        from assay.launch.sandbox import Bubblewrap  # type: ignore[import-not-found,unused-ignore]
    except ModuleNotFoundError:
        return None
    found: Sandbox = Bubblewrap()
    return found if found.available().available else None
