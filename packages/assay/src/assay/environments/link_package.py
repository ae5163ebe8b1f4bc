"""Assay itself on the path of another environment, without its dependencies: a folder of two links."""

from __future__ import annotations

import hashlib
import os
from importlib import metadata
from pathlib import Path

from assay.errors import EnvironmentFailed


def link_assay(folder: Path) -> Path:
    """A folder below `folder` that holds this assay's package and its metadata (the entry points), and nothing else.

    Named by where they lie, so that two checkouts share environments and never each other's code.
    """
    package = Path(__file__).resolve().parents[1]
    described = _metadata_folder()
    name = hashlib.sha256(f"{package}\n{described}".encode()).hexdigest()[:16]
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for target, link in ((package, place / "assay"), (described, place / described.name)):
        if not (link.is_symlink() and os.readlink(link) == str(target)):
            new = link.with_name(f".{link.name}.{os.getpid()}")
            new.symlink_to(target)
            new.replace(link)
    return place


def _metadata_folder() -> Path:
    try:
        distribution = metadata.distribution("assay")
    except metadata.PackageNotFoundError:
        raise EnvironmentFailed(
            "assay is not installed in this interpreter, only on its path: pip install it, so that its backends are found"
        ) from None
    folder = Path(str(distribution.locate_file(""))) / f"assay-{distribution.version}.dist-info"
    if not folder.is_dir():
        raise EnvironmentFailed(f"the metadata of assay is not at {folder}; reinstall assay")
    return folder.resolve()
