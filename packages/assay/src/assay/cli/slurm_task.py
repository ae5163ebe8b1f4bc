"""What a task of `assay run --on slurm` runs: FOLDER TOTAL and the words of the run. One process does all shards of the task: what they
need is imported once, and Slurm takes part of a second to start another."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from assay.cli.from_options import from_options
from assay.cli.main import FAILED, NOTHING, be_command, exits
from assay.cli.run import run_with
from assay.launch.prefork import Preforked
from assay.launch.slurm_claims import Claims
from assay.options.arguments import given_arguments
from assay.options.run import RunOptions


def main(folder: Path, total: int, words: Sequence[str]) -> None:
    """Exits with 0 where its shards have results: that cases fail is no failure of a task, and a share may have none. Where one has no
    results it begins no other."""
    claims = Claims(folder, total, os.environ["SLURM_ARRAY_JOB_ID"], int(os.environ["SLURM_ARRAY_TASK_ID"]))
    be_command()
    code = 0
    with Preforked(given_arguments(RunOptions, words).get("flows", ())) as preforked:
        for shard in claims.shards():
            if code := _shard(folder, shard, total, words, preforked):
                break
    sys.exit(code)


def _shard(folder: Path, shard: int, total: int, words: Sequence[str], preforked: Preforked) -> int:
    """The results have their name when they are whole."""
    part = folder / f"{shard}.part"
    part.unlink(missing_ok=True)
    own = [*words, "--shard", f"{shard}/{total}", "--history", str(folder / f"history-{shard}"), "--save", str(part)]

    @from_options(RunOptions)
    def run(values: Mapping[str, Any]) -> None:
        run_with(values, own, preforked)

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(run)
    try:
        exits(lambda: app(args=own[1:], prog_name="assay run"))
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else FAILED
    if not part.is_file():
        return code or FAILED
    part.rename(folder / f"{shard}.run")
    return 0 if code in (FAILED, NOTHING) else code


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
