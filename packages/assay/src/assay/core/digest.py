"""Identity by content: sha256, the same that LFS and OCI registries use."""

from __future__ import annotations

import hashlib

import msgspec


def sha256_bytes(data: bytes) -> str:
    """64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def value_digest(value: object) -> str:
    """The digest of a frozen value: equal values have equal digests, on every machine."""
    return sha256_bytes(msgspec.json.encode(value, order="sorted"))
