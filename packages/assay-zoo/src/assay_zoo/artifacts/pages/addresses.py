"""What an address says by itself, before anybody asks for it: another host than a reader sees, or one that only its author can reach."""

from __future__ import annotations

import ipaddress
from urllib.parse import unquote, urlsplit

from assay_zoo.artifacts.pages.alike import odd_word

_OWN = (".local", ".localhost", ".internal", ".lan", ".home.arpa", ".test", ".invalid", ".onion")
"""Names that no public server has (RFC 6761, 6762, 8375)."""


def deceiving(page: str) -> str:
    """Why a reader is misled by it, "" where nothing shows; "?" in front where a person may know better."""
    try:
        parts = urlsplit(page)
        host = unquote(parts.hostname or "").lower()
    except ValueError:
        return "? it is no address that can be read"
    if "@" in parts.netloc:
        return f"what stands before @ is no part of the host, which is {host[:60]!r}"
    for label in host.split("."):
        if odd_word(_written(label)):
            return f"its host {_written(label)[:60]!a} has letters of another alphabet that look like these"
    if host == "localhost" or host.endswith(_OWN) or ("." not in host and ":" not in host) or not _is_public(host):
        return "? only who wrote it can reach that host"
    return ""


def _written(label: str) -> str:
    """As a browser may show it (RFC 3492)."""
    try:
        return label.encode().decode("idna") if label.startswith("xn--") else label
    except UnicodeError:
        return label


def _is_public(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return True  # a name
