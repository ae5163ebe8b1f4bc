"""`assay history copy` and `grant` as functions."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from assay.errors import RunNotFound, UsageError


def copy_from(source: str, target: str) -> tuple[int, int]:
    """How many runs there are, and how many results were new. Raises UsageError where the two are one, RunNotFound where there is no
    history to copy, StoreError where one of them cannot be used."""
    from assay.stores.copy_history import copy_history
    from assay.stores.sql import SqlStore

    here, there = _location(source), _location(target)
    if here == there:
        raise UsageError(f"{source} and {target} are the same history; name another one to copy to")
    if "://" not in here and not Path(here).is_file():
        raise RunNotFound(f"there is no history in {source}; `assay check` makes one, or name another")
    with closing(SqlStore(here)) as old, closing(SqlStore(there)) as new:
        return copy_history(old, new, lambda run, count: None)


def grant_roles(history: str, readers: tuple[str, ...], writers: tuple[str, ...]) -> None:
    """Raises UsageError where no role is named or one is not there, StoreError where the user may not give rights."""
    from assay.stores.roles import grant
    from assay.stores.sql import SqlStore

    if not readers and not writers:
        raise UsageError("nobody is named: give --reader ROLE or --writer ROLE")
    with closing(SqlStore(_location(history))) as store:
        grant(store, readers=readers, writers=writers)


def _location(store_url: str) -> str:
    return store_url if "://" in store_url else str((Path(store_url) / "history.db").resolve())
