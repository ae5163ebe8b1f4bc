"""What the commands of `assay zoo` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Zoo = Annotated[
    Path | None,
    typer.Option("--zoo", metavar="FOLDER", help="Folder of the zoo [the nearest folder above with a zoo.toml]."),
]
By = Annotated[str, typer.Option("--by", metavar="WHO", help="Who asks for it; stored in the manifest.")]


def beside(path: Path) -> Path:
    """As one would type it here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def root_of(zoo: Path | None, start: Path) -> Path:
    """The zoo that the user names, or that `start` lies in. Raises UsageError."""
    from assay_zoo.repository import find_root, named_root

    return named_root(zoo.absolute()) if zoo else find_root(start)
