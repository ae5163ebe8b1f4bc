"""`assay serve`: the dashboard."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.common import History
from assay.options.groups import DEFAULT_HISTORY

PORT = 8437
Workers = Annotated[
    int, typer.Option(metavar="N", min=1, max=64, help="Processes that answer, for more pages a second.")
]


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
        typer.Option(metavar="NAME", help="Who may mute alerts and write notes; group:NAME is a group. Repeatable."),
    ] = None,
    approver: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Who may approve engines, too. Repeatable.")
    ] = None,
    oidc: Annotated[str, typer.Option(metavar="ISSUER", help="OpenID provider with which people sign in.")] = "",
    oidc_client: Annotated[
        str, typer.Option(metavar="ID", help="What the provider calls this server; its secret is $ASSAY_OIDC_SECRET.")
    ] = "",
    oidc_claim: Annotated[str, typer.Option(metavar="CLAIM", help="What the provider names people by.")] = "email",
    oidc_scope: Annotated[
        str, typer.Option(metavar="SCOPES", help="What the provider is asked for [openid email profile].")
    ] = "",
    oidc_groups: Annotated[str, typer.Option(metavar="CLAIM", help="Claim that has people's groups.")] = "groups",
    public_url: Annotated[
        str, typer.Option(metavar="URL", help="Address by which browsers call it, to which the provider sends back.")
    ] = "",
    title: Annotated[str, typer.Option(help="What the pages are headed with.")] = "Assay",
    workers: Workers = 1,
) -> None:
    from assay.web.serve import WhoIsKnown
    from assay.web.serve import serve as run

    people = (tuple(trust_proxy or ()), tuple(operator or ()), tuple(approver or ()))
    known = WhoIsKnown(*people, user_header, oidc, oidc_client, oidc_claim, oidc_scope, oidc_groups, public_url)
    run(history, host, port, tuple(allow_host or ()), title, known, workers)
