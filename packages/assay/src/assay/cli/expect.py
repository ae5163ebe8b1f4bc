"""`assay expect`: known outcomes as data, rewritten from a run."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.common import History
from assay.options.groups import DEFAULT_HISTORY

if TYPE_CHECKING:
    from assay.core.result import Result

app = typer.Typer(no_args_is_help=True)


@app.command("update")
def update(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Runs of the history, `last`, or files of `assay run --save`. Of a job in several the last counts.",
        ),
    ] = None,
    flow: Annotated[list[str] | None, typer.Option(help="Update only this flow. Repeatable.")] = None,
    expectations: Annotated[str, typer.Option(metavar="FOLDER", help="Folder of the files.")] = "expectations",
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing, and exit 1 if anything would change.")] = False,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Make the files say what the runs showed, and show what changes."""
    from assay.errors import UsageError
    from assay.pipeline.suite_cases.known_outcomes import SHIPPED, expectations_folder

    if expectations == SHIPPED:
        raise UsageError(
            f"--expectations {SHIPPED} are the outcomes that come with Assay, and are not rewritten: name a folder of your own"
        )
    folder = expectations_folder(expectations)
    results = _results(run or ["last"], history)
    flows = sorted({result.flow for result in results})
    unknown = sorted(set(flow or ()) - set(flows))
    if unknown:
        raise UsageError(f"what was run has no flow '{unknown[0]}'; it has {', '.join(flows) or 'none'}")
    changes = _changes(flow or flows, folder, results)
    if not changes:
        print("nothing would change")
        return
    if check:
        raise typer.Exit(1)
    if not yes and not sys.stdin.isatty():
        raise UsageError("an update without a terminal needs --yes; look at it with --check first")
    if not yes and not typer.confirm(f"write {len(changes)} file{'s' if len(changes) > 1 else ''}"):
        raise typer.Exit(1)
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in changes.items():
        path.write_text(text, encoding="utf-8")
        print(f"updated {path}")


def _changes(flows: Sequence[str], folder: Path, results: Sequence[Result]) -> dict[Path, str]:
    """The new text of each file that would change, which is shown."""
    from assay.pipeline.suite_cases.known_outcomes import read_expected, to_toml, updated

    changes: dict[Path, str] = {}
    for name in flows:
        path = folder / f"{name}.toml"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        known = updated(read_expected(path), [result for result in results if result.flow == name])
        after = to_toml(name, known) if known or before else ""
        if after != before:
            changes[path] = after
            lines = difflib.unified_diff(
                before.splitlines(), after.splitlines(), str(path), str(path), lineterm="", n=1
            )
            print("\n".join(lines))
    return changes


def _results(runs: Sequence[str], history: str) -> list[Result]:
    """Of verify jobs, each once: as the last of the runs saw it."""
    from assay.commands.composition import open_services
    from assay.core.result import VerifyResult
    from assay.errors import each
    from assay.pipeline.merge import saved_run

    def of_run(run_or_file: str) -> tuple[Result, ...]:
        if Path(run_or_file).is_file():
            return saved_run(Path(run_or_file))[1]
        with open_services(history, recorded=True) as services:
            return tuple(services.store.results(services.store.run(run_or_file).id))

    verify_results = [
        result for results in each(runs, of_run) for result in results if isinstance(result, VerifyResult)
    ]
    return list({verify_result.job_key: verify_result for verify_result in verify_results}.values())
