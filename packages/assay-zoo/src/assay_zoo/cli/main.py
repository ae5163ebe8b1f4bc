"""`assay zoo`: check a submission, decide again, promote, roll back; make a zoo."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay_zoo.cli import change as zoo_change
from assay_zoo.cli import make as zoo_make
from assay_zoo.cli import robot as zoo_robot
from assay_zoo.cli.common import Zoo, beside, root_of

if TYPE_CHECKING:
    from assay_zoo.check import Check
    from assay_zoo.inspect import Progress

app = typer.Typer(
    help="A model collection: submissions come in, decisions go out.", no_args_is_help=True, rich_markup_mode=None
)
_APPROVED = "who runs the command"


@app.command("check")
def check(
    folders: Annotated[list[Path] | None, typer.Argument(metavar="FOLDER", help="Folders of submissions.")] = None,
    zoo: Zoo = None,
    since: Annotated[
        str, typer.Option(metavar="COMMIT", help="Check every submission that changed since this commit.")
    ] = "",
    author: Annotated[
        str, typer.Option(help="Who submits it, by the name at the forge: others than its owners need a maintainer.")
    ] = "",
    groups: Annotated[str, typer.Option(help="Run only these groups of checks, separated by commas.")] = "",
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the record to this file.")
    ] = None,
    history: Annotated[str, typer.Option(help="Folder where runs are recorded [.assay of the zoo].")] = "",
) -> None:
    """Run the robot's checks on this machine.

    Exit codes: 0 promote, 1 decline, 3 a person decides, 4 the machine failed, 5 nothing was executed.
    """
    from assay_zoo.check import GROUPS
    from assay_zoo.inspect import inspect
    from assay_zoo.inspection_text import exit_code, inspection_text
    from assay_zoo.records import record_path, write_record
    from assay_zoo.repository import name_of
    from assay_zoo.services import open_tools

    root, wanted, others = _submissions(folders or [], zoo, since)
    _refuse(wanted, json, since)
    asked = tuple(part.strip() for part in groups.split(",")) if groups else GROUPS
    codes = []
    with open_tools(root, history) as tools:
        for folder in wanted:
            with _progress() as progress:
                name = name_of(root, folder)
                where = folder.absolute()
                inspection = inspect(
                    name, root, tools, folder=where, groups=asked, author=author, approved=_APPROVED, progress=progress
                )
            record = write_record(record_path(root, inspection), inspection)
            if json:
                write_record(json, inspection)
            print(inspection_text(inspection, folder=str(folder), width=_width(), colour=sys.stdout.isatty()), end="")
            print(f"record {beside(record)}\n")
            codes.append(exit_code(inspection))
    if others:
        print(_beside_submissions(others))
        codes.append(3)
    raise typer.Exit(_worst(codes))


@app.command("decide")
def decide(
    record: Annotated[Path, typer.Argument(metavar="RECORD", help="Record to judge, a file of .assay/zoo.")],
    zoo: Zoo = None,
) -> None:
    """Judge a record by the policy of today.

    Nothing is run and nothing is written: new waivers count, those that are over do not.
    """
    from assay_zoo.inspection_text import decision_text, exit_code
    from assay_zoo.records import decide_again, read_record
    from assay_zoo.repository import read_policy

    kept = read_record(record)
    again = decide_again(kept, read_policy(root_of(zoo, record.parent)))
    print(decision_text(again, width=_width(), colour=sys.stdout.isatty()), end="")
    if again.decision.answer is not kept.decision.answer:
        print(f"it was decided {kept.decision.answer.value!r} on {kept.at}")
    raise typer.Exit(exit_code(again))


app.command("robot")(zoo_robot.robot)
app.command("promote")(zoo_change.promote)
app.command("rollback")(zoo_change.rollback)
app.command("index")(zoo_change.index)
app.command("init")(zoo_make.init)
app.command("new")(zoo_make.new)
app.command("data")(zoo_make.data)
app.command("readme")(zoo_make.readme)
app.command("schema")(zoo_make.schema)


def _beside_submissions(paths: Sequence[str]) -> str:
    from assay_zoo.intake import shown

    named = ", ".join(map(shown, paths[:5])) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
    return f"the same change touches {named}: nothing here judges that, a maintainer reads it"


def _submissions(folders: Sequence[Path], zoo: Path | None, since: str) -> tuple[Path, list[Path], list[str]]:
    from assay.errors import UsageError, each
    from assay_zoo.changed import changed_submissions

    def look(folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"{folder} is no folder; give the folder of a submission")

    each(folders, look)
    root = root_of(zoo, folders[0] if folders else Path())
    changed, others = changed_submissions(root_of(None, Path()), since) if since else ([], [])
    return root, [*folders, *map(beside, changed)], others


def _refuse(wanted: Sequence[Path], json: Path | None, since: str) -> None:
    from assay.errors import UsageError

    if not wanted and since:
        print(f"no submission changed since {since}")
        raise typer.Exit(0)
    if not wanted:
        raise UsageError("which submission? give its folder, or --since COMMIT for those that changed")
    if json and len(wanted) > 1:
        raise UsageError(f"--json writes one record, and {len(wanted)} submissions are to be checked: leave it out")


def _worst(codes: Sequence[int]) -> int:
    """A decline before a fault of the machine, that before a question, and success last."""
    return min(codes, key=(1, 4, 5, 3, 0).index)


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


class _progress:
    """One line on a terminal that says which group runs; nothing elsewhere."""

    def __enter__(self) -> Progress:
        self._shown = sys.stderr.isatty()
        return self._tell

    def __exit__(self, *error: object) -> None:
        self._write("")

    def _tell(self, group: str, checks: Sequence[Check] | None) -> None:
        self._write(f"{group} ..." if checks is None else "")

    def _write(self, text: str) -> None:
        if self._shown:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
