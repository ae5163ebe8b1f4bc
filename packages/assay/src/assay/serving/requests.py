"""What is sent: prompts of a file in turn, with lengths and a share of streams, as the bytes of HTTP requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.endpoints.readable import json_value
from assay.errors import UsageError


@dataclass(frozen=True)
class Mix:
    """`prompts` are texts or token numbers, sent in turn with each of `tokens` in turn."""

    address: str
    model: str
    prompts: Sequence[str | list[int]]
    tokens: Sequence[int] = (16,)
    stream: bool = True
    key: str = field(default="", repr=False)

    def tokens_of(self, number: int) -> int:
        """How many are asked for."""
        return self.tokens[number % len(self.tokens)]

    def request(self, number: int) -> bytes:
        """The whole request, to be written to a connection."""
        parts = urlsplit(self.address)
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": self.prompts[number % len(self.prompts)],
            "max_tokens": self.tokens_of(number),
            "temperature": 0.0,
            "stream": self.stream,
        }
        content = json.dumps(body).encode()
        lines = [
            f"POST {parts.path.rstrip('/')}/completions HTTP/1.1",
            f"Host: {parts.netloc}",
            "Content-Type: application/json",
            f"Content-Length: {len(content)}",
        ]
        lines += [f"Authorization: Bearer {self.key}"] if self.key else []
        return "\r\n".join([*lines, "", ""]).encode() + content


def read_mix_prompts(path: Path) -> list[str | list[int]]:
    """Of a .txt file each line, of a .jsonl file a text or token numbers on each line. Raises UsageError."""
    try:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
        prompts = [line if path.suffix == ".txt" else _said(json_value(line.encode())) for line in lines]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read as prompts ({error}): give a text or token numbers on each line"
        ) from None
    if not prompts:
        raise UsageError(f"{path} holds no prompt: give a text or token numbers on each line")
    return prompts


def _said(value: Any) -> str | list[int]:
    if isinstance(value, dict):
        value = value.get("ids", value.get("text"))
    if not isinstance(value, str | list) or not value:
        raise ValueError(f"{value!r} is neither a text nor token numbers")
    return value
