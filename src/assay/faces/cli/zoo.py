"""`assay zoo`: check a submission, decide again, promote, roll back; make a zoo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from assay.zoo.inspect import Inspection

app = typer.Typer(
    help="A model collection: submissions come in, decisions go out.", no_args_is_help=True, rich_markup_mode=None
)

Zoo = Annotated[
    Path | None,
    typer.Option("--zoo", metavar="FOLDER", help="The zoo; without it, the folder above with a zoo.toml."),
]
PROMOTE, DECLINE, PERSON, RETRY, NOTHING = 0, 1, 3, 4, 5


@app.command("check")
def check(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The submission.")],
    zoo: Zoo = None,
    groups: Annotated[str, typer.Option(help="Only these groups of checks, with commas between.")] = "",
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write what was found, too.")] = None,
    history: Annotated[str, typer.Option(help="Where runs are recorded [the zoo's .assay].")] = "",
) -> None:
    """The checks of the robot, here: exit 0 promote, 1 decline, 3 a person decides, 4 look again, 5 nothing executed."""
    from assay.errors import UsageError
    from assay.faces.zoo import open_tools
    from assay.zoo.check import GROUPS
    from assay.zoo.inspect import inspect
    from assay.zoo.records import record_path, write_record
    from assay.zoo.repository import find_root

    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; give the folder of a submission")
    root = (zoo or find_root(folder)).absolute()
    wanted = tuple(groups.split(",")) if groups else GROUPS
    with open_tools(root, history) as tools:
        found = inspect(folder.absolute().name, root, tools, folder=folder.absolute(), groups=wanted)
    record = write_record(record_path(root, found), found)
    if json:
        write_record(json, found)
    for one in found.checks:
        print(f"{one.outcome:<14} {one.name}: {one.sentence}")
    print(found.decision.answer, *found.decision.reasons, sep="\n  ")
    print(f"record {record}")
    raise typer.Exit(exit_code(found))


def exit_code(found: Inspection) -> int:
    """What the decision means to the shell."""
    from assay.zoo.decision import Answer

    codes = {Answer.PROMOTE: PROMOTE, Answer.DECLINE: DECLINE, Answer.PERSON: PERSON, Answer.RETRY: RETRY}
    answer = found.decision.answer
    if answer is Answer.PERSON and not any(one.executed for one in found.checks):
        return NOTHING
    return codes[answer]
