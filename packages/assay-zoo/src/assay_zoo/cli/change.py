"""`assay zoo promote | rollback | index`: what changes a zoo."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay_zoo.cli.common import By, Zoo, root_of

if TYPE_CHECKING:
    from assay_zoo.inspect import Inspection


def promote(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Submission.")],
    by: By,
    reason: Annotated[str, typer.Option(help="Why it is promoted, if the decision was not to promote.")] = "",
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record of the inspection [that of these files].")
    ] = None,
    zoo: Zoo = None,
) -> None:
    """Accept a submission that was checked.

    It moves to models/, into the manifest and into the index. Killed, the same command finishes.
    """
    from assay.errors import NotWritable
    from assay_zoo.promote import promote as accept
    from assay_zoo.records import read_record

    root = root_of(zoo, Path())
    inspection = read_record(record) if record else _newest(root, name)
    try:
        print(accept(root, name, inspection, by, reason=reason).sentence)
    except OSError as error:
        raise NotWritable(f"{error.filename or root} cannot be written ({error.strerror})") from None


def rollback(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Model.")],
    by: By,
    reason: Annotated[str, typer.Option(help="Why it is rolled back; stored in the manifest.")],
    zoo: Zoo = None,
) -> None:
    """Serve the version before again.

    The current one is kept, and marked as withdrawn.
    """
    from assay.errors import NotWritable
    from assay_zoo.promote import rollback as take_back

    root = root_of(zoo, Path())
    try:
        print(take_back(root, name, by, reason=reason).sentence)
    except OSError as error:
        raise NotWritable(f"{error.filename or root} cannot be written ({error.strerror})") from None


def index(zoo: Zoo = None) -> None:
    """Write the table of models in README.md."""
    from assay.errors import NotWritable
    from assay_zoo.facts import with_sketches
    from assay_zoo.index import write_index
    from assay_zoo.manifest import read_manifest, write_manifest
    from assay_zoo.repository import read_policy

    root = root_of(zoo, Path())
    before = read_manifest(root)
    manifest = with_sketches(root, before, memory_bytes=read_policy(root).run.memory_bytes)
    try:
        if manifest != before:
            write_manifest(root, manifest)
        write_index(root, manifest)
    except OSError as error:
        raise NotWritable(f"{root / 'README.md'} cannot be written ({error.strerror})") from None
    print(f"{root / 'README.md'} says what the manifest says")


def _newest(root: Path, name: str) -> Inspection:
    """The record of the files as they lie there now; where they are gone, of the version that is served."""
    from assay.errors import UsageError
    from assay_zoo.intake import take_in
    from assay_zoo.manifest import read_manifest
    from assay_zoo.records import path_for, read_record
    from assay_zoo.repository import read_policy, submission_folder
    from assay_zoo.zoo_files import SUBMISSIONS

    if (root / SUBMISSIONS / name).is_dir():
        with tempfile.TemporaryDirectory() as scratch:
            taken = take_in(submission_folder(root, name), Path(scratch) / "intake", read_policy(root).files)
        digest = taken.digest
    else:
        entry = read_manifest(root).models.get(name)
        served = entry.version(entry.current) if entry else None
        if served is None:
            submission_folder(root, name)
        digest = served.digest if served else ""
    path = path_for(root, name, digest)
    if not path.is_file():
        raise UsageError(f"{name} was not checked as it is now: run `assay zoo check {SUBMISSIONS}/{name}` first")
    return read_record(path)
