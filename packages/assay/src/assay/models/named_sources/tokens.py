"""Which servers a model may come from, and what they are told of who asks. Credentials come from the environment only."""

from __future__ import annotations

import base64
import os
from urllib.parse import urlsplit

from assay.errors import BadModel

TOKENS = "ASSAY_SOURCE_TOKENS"
"""`host=token`, several with spaces between."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_server(address: str) -> None:
    """Raise BadModel for an address that is open to everybody on the way, or that holds a password."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if not host:
        raise BadModel(f"{address} names no host: write https://host/model.onnx")
    if parts.scheme not in ("https", "ssh") and not (parts.scheme == "http" and host in LOOPBACK):
        raise BadModel(f"{parts.scheme}://{host} is read and changed by everybody on the way: use https://")
    if parts.password or (parts.username and parts.scheme != "ssh"):
        raise BadModel(
            f"an address of {host} holds a user or a password, which reports would show: take it out, and give {TOKENS}={host}=..."
        )


def demand_no_query(address: str) -> None:
    """Raise BadModel for an address that would put a secret into every report: signatures and tokens stand in queries."""
    before, mark, _ = address.partition("?")
    if mark:
        host = host_of(before) or "HOST"
        raise BadModel(
            f"{before} has a query behind it (?...), where tokens and signatures stand, and reports would show it: leave it out, and give "
            f"{TOKENS}={host}=TOKEN in the environment; what is signed beforehand, fetch by hand, and give the file"
        )


def host_of(address: str) -> str:
    return urlsplit(address).hostname or ""


def token_of(host: str) -> str:
    """ "" where the environment has none for this host: no other host gets it."""
    pairs = dict(part.partition("=")[::2] for part in os.environ.get(TOKENS, "").split())
    return pairs.get(host, "")


def basic_credentials(host: str) -> str:
    """The header that forges take a token by; "" without a token."""
    token = token_of(host)
    return f"Authorization: Basic {base64.b64encode(f'x-access-token:{token}'.encode()).decode()}" if token else ""
