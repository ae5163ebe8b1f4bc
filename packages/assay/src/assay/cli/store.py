"""`assay store`: files that machines share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.common import History
from assay.options.groups import DEFAULT_HISTORY

app = typer.Typer(no_args_is_help=True)


@app.callback()
def store() -> None:
    """Files that machines share: baselines, references, logs, traces. `store` in assay.toml, or ASSAY_STORE, says where they are; the
    history says which."""


@app.command("list")
def list_(history: History = DEFAULT_HISTORY) -> None:
    """List the shared folders, with the number of their files and their size."""
    from assay.commands.store import kept
    from assay.reports import format as text

    folders = kept(history)
    for name, folder in folders.items():
        size = text.size(sum(file.size_bytes for file in folder.files))
        print(f"{name}  {len(folder.files)} files, {size}")
    if not folders:
        print(f"{history} shares nothing; a run with `store` in assay.toml does")


@app.command("push")
def push(
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every file back, and send it again where it is damaged.")
    ] = False,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Send what is on this machine and not in the store: what an earlier run could not send, and what was there before the store."""
    from assay.commands.store import push as send

    print(f"{send(history, verify=verify)} files sent")


@app.command("tensor")
def tensor(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Shared folder of a reference, as `assay store list` names it.")
    ],
    name: Annotated[
        str, typer.Argument(metavar="TENSOR", help="Its name; `input:NAME` or `output:NAME` where both have it.")
    ],
    output: Annotated[Path, typer.Option("--output", metavar="FILE", help="File of safetensors to write.")],
    history: History = DEFAULT_HISTORY,
) -> None:
    """Fetch one tensor of a reference. Of a large file only its bytes are read, and they are verified."""
    from assay.commands.store import save_tensor

    array = save_tensor(history, folder, name, output)
    print(f"{name}: {array.dtype} {list(array.shape)} in {output}")


@app.command("gc")
def gc(
    remove: Annotated[bool, typer.Option("--remove", help="Remove them; without it they are only counted.")] = False,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Count the files in the store that nothing in the history refers to any more and that are older than a day, or remove them. Give a
    history of its own to each store: what another one refers to would go."""
    from assay.commands.store import collect
    from assay.reports import format as text

    unused = collect(history, remove=remove)
    done = "removed" if remove else "can go (--remove)"
    size = f"{text.size(unused.size_bytes)}, " if unused.size_bytes else ""
    print(f"{len(unused.digests)} files, {size}{done}" if unused.digests else "every file is needed")
