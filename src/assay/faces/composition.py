"""Where adapters are chosen: the house that every face hands to the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import NotWritable
from assay.faces.cli.common import DEFAULT_HISTORY
from assay.pipeline.house import House
from assay.ports import Progress


@contextmanager
def open_house(
    history: str = DEFAULT_HISTORY,
    *,
    workers: int = 0,
    recycle: int = 100,
    progress: Progress = lambda done, planned, result: None,
) -> Iterator[House]:
    """`history` is a folder, or a postgresql+psycopg:// URL (then the folder beside it is `.assay`)."""
    from assay.launch.pool import Fresh, Pool
    from assay.stores.journal import Journal, read_journal
    from assay.stores.sql import SqlStore

    remote = "://" in history
    folder = Path(DEFAULT_HISTORY if remote else history)
    _make(folder)
    store = SqlStore(history if remote else str(folder / "history.db"))
    try:
        yield House(
            folder=folder,
            store=store,
            pool=Pool(workers, recycle),
            alone=Fresh(),
            open_journal=Journal,
            read_journal=read_journal,
            progress=progress,
        )
    finally:
        store.close()


def _make(folder: Path) -> None:
    try:
        (folder / "journal").mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as error:
        raise NotWritable(
            f"the history {folder} cannot be written ({error.strerror}); give another with --history"
        ) from None
