"""Where adapters are chosen: the services that every command hands to the pipeline."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.commands.blob_store import open_shared_files
from assay.commands.machine_address import words_for_here
from assay.commands.recycling import RECYCLE
from assay.commands.remote_machines import LAUNCHERS, RemoteMachines
from assay.errors import NotWritable, RunNotFound, StoreError
from assay.options.groups import DEFAULT_HISTORY
from assay.pipeline.adapters import Services
from assay.pipeline.job_graph import JobGraph
from assay.pipeline.kept_files.shared_files import SharedFiles
from assay.pipeline.progress import SILENT, Progress
from assay.ports import Launcher, Store

if TYPE_CHECKING:
    from assay.config.assay_toml import Config
    from assay.launch.idle import IdleWorkers
    from assay.launch.pool import InterpreterOf
    from assay.launch.prefork import Preforked
    from assay.launch.watch import Watch

STORES = "assay.stores"


@contextmanager
def open_services(
    history: str = DEFAULT_HISTORY,
    *,
    workers: int = 0,
    recycle: int = RECYCLE,
    progress: Progress = SILENT,
    config: Config | None = None,
    locks: Path | None = None,
    recorded: bool = False,
    preforked: Preforked | None = None,
    idle: IdleWorkers | None = None,
    machines: RemoteMachines | None = None,
    unrecorded: bool = False,
) -> Iterator[Services]:
    """`history` is a folder, or a postgresql+psycopg:// URL (then the folder beside it is `.assay`); the
    store of a third party, called NAME, is picked by `NAME://...`. `config` names
    environments; without it, ./assay.toml does. Their locks lie in `locks`, by default the history's folder. With
    `recorded`, for commands that read, a folder without a history is refused instead of made, and one that nobody may write to is only
    read. `preforked` workers are the first that verify; those that are `idle`, of a command that began with them, are used first.
    `machines` are others, where jobs run. Of what is `unrecorded` nothing is kept but files in the folder."""
    from assay.commands.known_environments import open_environments
    from assay.launch.gpus import gpus
    from assay.stores.journal import Journal, journal_held, read_journal

    remote = "://" in history
    folder = Path(DEFAULT_HISTORY if remote else history)
    with ExitStack() as opened:
        opened.enter_context(machines or nullcontext())
        if not (reads := recorded and not remote and not _writable(folder)):
            _make(folder)
        environments = open_environments(locks or folder, config)
        asked = environments.interpreter, progress.at
        here = _here(workers, recycle, *asked, preforked, idle)
        pool, alone = machines.launchers(*asked) if machines else opened.enter_context(here)
        store, files = opened.enter_context(_nothing(folder) if unrecorded else _kept(history, folder, config, reads))
        yield Services(
            folder=folder,
            store=store,
            jobs=JobGraph(pool, alone),
            open_journal=Journal,
            read_journal=read_journal,
            journal_held=journal_held,
            progress=progress,
            available=environments.availability,
            interpreter=environments.interpreter,
            gpus=tuple(map(str, gpus())),
            files=files,
            history=history,
            on=machines.on if machines else words_for_here(),
        )


@contextmanager
def _kept(history: str, folder: Path, config: Config | None, reads: bool) -> Iterator[tuple[Store, SharedFiles]]:
    with (
        open_to_read(history) if reads else _store(history) as store,
        open_shared_files(folder, store, config) as files,
    ):
        yield store, files


@contextmanager
def _nothing(folder: Path) -> Iterator[tuple[Store, SharedFiles]]:
    from assay.stores.nothing import NoHistory

    yield NoHistory(), SharedFiles(folder)


def _writable(folder: Path) -> bool:
    """Raises RunNotFound where there is no history."""
    database = folder / "history.db"
    if not database.is_file():
        raise RunNotFound(f"there is no history in {folder}; `assay check` makes one, or give another with --history")
    return os.access(folder, os.W_OK) and os.access(database, os.W_OK)


@contextmanager
def _here(
    workers: int,
    recycle: int,
    interpreter: InterpreterOf,
    watch: Watch,
    preforked: Preforked | None,
    idle: IdleWorkers | None,
) -> Iterator[tuple[Launcher, Launcher]]:
    """On this machine: warm workers, and a fresh process for each job when nothing else runs."""
    from assay.launch.gpus import gpus

    warm, fresh = plugins.load(LAUNCHERS, "pool"), plugins.load(LAUNCHERS, "fresh")
    with warm(workers, recycle, interpreter, gpus(), preforked, watch, idle) as pool:
        yield pool, fresh(2, interpreter, gpus(), watch, pool.end_idle)


@contextmanager
def open_store(history: str = DEFAULT_HISTORY) -> Iterator[Store]:
    """The history alone, made if it is not there, for a service that runs nothing itself."""
    _make(Path(DEFAULT_HISTORY if "://" in history else history))
    with _store(history) as store:
        yield store


@contextmanager
def open_to_read(history: str) -> Iterator[Store]:
    """The history alone, for a service that changes nothing: it is not made, not migrated, and not written to."""
    remote = "://" in history
    if not remote:
        _writable(Path(history))
    if remote and history.partition("://")[0] in plugins.names(STORES):
        with _store(history) as store:
            yield store
        return
    store = plugins.load(STORES, "sql")(history if remote else str(Path(history) / "history.db"), read_only=True)
    try:
        yield store
    finally:
        store.close()


def reading_services(folder: Path, store: Store) -> Services:
    """For what is computed from a history that is open to read. Nothing runs."""
    from assay.stores.journal import Journal, journal_held, read_journal

    nobody = plugins.load(LAUNCHERS, "fresh")()
    return Services(folder, store, JobGraph(nobody, nobody), Journal, read_journal, journal_held)


@contextmanager
def _store(history: str) -> Iterator[Store]:
    scheme = history.partition("://")[0] if "://" in history else ""
    kind = plugins.load(STORES, scheme if scheme in plugins.names(STORES) else "sql")
    store: Store = kind(history if scheme else str(Path(history) / "history.db"))
    try:
        yield store
    finally:
        store.close()


def _make(folder: Path) -> None:
    try:
        (folder / "journal").mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as error:
        text = f"the history {folder} cannot be written ({error.strerror}); "
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise StoreError(f"{text}free some space, or give another with --history") from None
        raise NotWritable(f"{text}give another with --history") from None
