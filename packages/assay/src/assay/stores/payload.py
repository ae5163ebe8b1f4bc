"""Whole values as bytes: msgpack (NaN and infinity survive, unlike in JSON), compressed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TypeVar

import msgspec

Value = TypeVar("Value")


def pack(value: msgspec.Struct | Sequence[msgspec.Struct]) -> bytes:
    """Lossless. Level 1: a result is mostly field names and samples, and thousands are written in one transaction."""
    return zlib.compress(msgspec.msgpack.encode(value), 1)


def unpack(payload: bytes, decoder: msgspec.msgpack.Decoder[Value]) -> Value:
    """Raises msgspec.DecodeError or zlib.error where the bytes are not those of such a value."""
    return decoder.decode(zlib.decompress(payload))
