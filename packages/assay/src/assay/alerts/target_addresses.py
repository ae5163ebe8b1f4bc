"""Addresses of targets: read where they lie, and never shown."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from assay.core.alert import AlertTarget
from assay.errors import HarnessError

SHORTEST = 3
"""Characters of a part of an address that is worth hiding."""
PLAIN = frozenset(
    {"from", "to", "name", "mode", "format", "cto", "rto", "verify", "localhost", "yes", "no", "127.0.0.1"}
)


class NotDelivered(HarnessError):
    """A target did not get a message; why, without any secret."""


def read_address(target: AlertTarget) -> str:
    """Raises NotDelivered where the address is not there."""
    url = target.url
    if url.env:
        address = os.environ.get(url.env, "").strip()
        if not address:
            raise NotDelivered(f"the variable {url.env}, which has its address, is not set")
        return address
    if url.file:
        try:
            address = Path(url.file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise NotDelivered(f"{url.file}, which has its address, cannot be read ({why})") from None
        if not address:
            raise NotDelivered(f"{url.file}, which is to have its address, is empty")
        return address
    return url.text


def without_address(text: str, address: str) -> str:
    """The text without the address, and without each part of it that may be a secret: user, password, path and values, as they are
    written and as they mean."""
    for part in sorted(_parts(address), key=len, reverse=True):
        text = text.replace(part, "***")
    return text


def _parts(address: str) -> set[str]:
    try:
        split = urlsplit(address)
    except ValueError:
        return {address}
    user, _, _ = split.netloc.rpartition("@")
    words = [*re.split(r"[:@]", user), *split.path.split("/"), split.fragment, *(v for _, v in parse_qsl(split.query))]
    # Of a chat the token stands where the host is of others.
    if "." not in split.netloc and split.netloc.partition(":")[0] not in PLAIN:
        words += re.split(r"[:@]", split.netloc)
    both = {form for word in words for form in (word, unquote(word), quote(unquote(word), safe=""))}
    return {address, unquote(address), *(form for form in both if len(form) >= SHORTEST and form not in PLAIN)}
