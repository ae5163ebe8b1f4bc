"""`assay serve`: the dashboard."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.common import History
from assay.options.groups import DEFAULT_HISTORY

PORT = 8437


def serve(
    history: History = DEFAULT_HISTORY,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at, 0 for any that is free.")] = PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Name by which browsers may call it, beside the address. Repeatable."),
    ] = None,
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Address or network of a proxy whose header says who asks. Repeatable."),
    ] = None,
    user_header: Annotated[str, typer.Option(help="Header in which the proxy names who asks.")] = "X-Forwarded-User",
    operator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Who may mute alerts and write notes, as the proxy names them. Repeatable."),
    ] = None,
    approver: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Who may approve engines, too. Repeatable.")
    ] = None,
    title: Annotated[str, typer.Option(help="What the pages are headed with.")] = "Assay",
) -> None:
    from assay.web.serve import serve as run

    run(
        history,
        host,
        port,
        tuple(allow_host or ()),
        title,
        proxies=tuple(trust_proxy or ()),
        operators=tuple(operator or ()),
        approvers=tuple(approver or ()),
        user_header=user_header,
    )
