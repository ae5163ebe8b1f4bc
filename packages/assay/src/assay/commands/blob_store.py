"""The store of blobs that assay.toml or the environment names, and what of the history is shared by it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.commands.caches import most_bytes
from assay.commands.known_environments import CONFIG
from assay.errors import UsageError
from assay.pipeline.kept_files.shared_files import SharedFiles
from assay.ports import Blobs, KeepsFolders, Store

if TYPE_CHECKING:
    from assay.config.assay_toml import Config

BLOBS = "assay.blobs"
VARIABLE = "ASSAY_STORE"
_FOLDER = "folder"


def store_address(config: Config | None = None) -> str:
    """What the environment says, else `config`, else ./assay.toml; "" where nothing is shared. Raises BadPolicy."""
    if VARIABLE in os.environ:
        return os.environ[VARIABLE]
    # A command that asks for nothing else in that file need not read all of it, nor stop at what is wrong there.
    if config is None and CONFIG.is_file() and "store" in CONFIG.read_text(encoding="utf-8", errors="replace"):
        from assay.config.assay_toml import load_config

        config = load_config(CONFIG)
    return config.store if config else ""


def open_blobs(config: Config | None = None) -> Blobs | None:
    """None where nothing is shared. Raises UsageError for an address that no store answers to, StoreError where it cannot be opened."""
    address = store_address(config)
    if not address:
        return None
    scheme, separator, place = address.partition("://")
    name = scheme if separator else _FOLDER
    if name not in plugins.names(BLOBS):
        known = ", ".join(f"{kind}://..." for kind in plugins.names(BLOBS) if kind != _FOLDER)
        raise UsageError(f'"{address}" is no store: give a folder, or an address that begins with {known}')
    if separator and place[:1] in ("", "/"):
        raise UsageError(f'"{address}" says no place: write {scheme}://bucket/prefix')
    blobs: Blobs = plugins.load(BLOBS, name)(address)
    return blobs


@contextmanager
def open_shared_files(folder: Path, store: Store, config: Config | None = None) -> Iterator[SharedFiles]:
    """Afterwards what was fetched is held to the size of the cache. Raises as `open_blobs`, and UsageError where the history cannot say
    what lies in the store."""
    blobs = open_blobs(config)
    if blobs is None:
        yield SharedFiles(folder)
        return
    with closing(blobs):
        if not isinstance(store, KeepsFolders):
            raise UsageError(
                "this kind of history cannot keep which files lie in a store: use a folder or a postgresql+psycopg:// URL, or leave "
                "`store` out"
            )
        files = SharedFiles(folder, blobs, store)
        try:
            yield files
        finally:
            files.evict(most_bytes())
