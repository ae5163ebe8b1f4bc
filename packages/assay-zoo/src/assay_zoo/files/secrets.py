"""Passwords, tokens and private keys in text, found by the plugins of detect-secrets, with their line."""

from __future__ import annotations

import os
import re
from itertools import pairwise

import msgspec

from assay_zoo.files.finding import Finding, Item
from assay_zoo.text_encoding import as_table

_TOO_VAGUE = ("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector")
"""Digests, weights and images are of high entropy, and an address is no secret."""
_KEY_FILES = (".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk")
_LONGEST_BYTES = 8 << 20
_LONG_LINE = 20_000
_MODELS = (".onnx",)
_WORDS = re.compile(rb"[\x20-\x7e]{16,}")
_WORDS_MOST = 2_000
"""Texts of a model that are read: those at its end, where what describes it is stored, before others."""
_TOKEN = re.compile(r"(?<![\w/+=-])[a-z]{2,6}[_-](?:[a-z]+[_-])?(?P<letters>[A-Za-z0-9]{30,80})(?![\w/+=-])")
_CHANGES = 0.38
_KEPT = 2_000
"""Of both ends of a long line: what lies between are the bytes of an image in a notebook."""


def secrets_in(item: Item) -> list[Finding]:
    """One finding a line. The secret itself is never repeated."""
    if item.suffix in _KEY_FILES:
        return [_secret(f"is a key store by its name ({item.suffix})", 0)]
    if item.suffix in _MODELS:
        return [msgspec.structs.replace(finding, line=0) for finding in _scan(_words_of(item))[:1]]
    with item.file.open("rb") as file:
        data = file.read(_LONGEST_BYTES)
    try:
        text = as_table(data)
    except UnicodeDecodeError:
        return []
    return [] if "\0" in text else _scan(text)


def _words_of(item: Item) -> str:
    """Names and descriptions between the numbers of a model, each once."""
    size = item.file.stat().st_size
    with item.file.open("rb") as file:
        first = file.read(_LONGEST_BYTES)
        file.seek(max(len(first), size - _LONGEST_BYTES))
        last = file.read()
    words = [*reversed(_WORDS.findall(last)), *reversed(_WORDS.findall(first))]
    candidates = [
        candidate for candidate in dict.fromkeys(words) if re.search(rb"[0-9]", candidate) or b"BEGIN" in candidate
    ]
    return b"\n".join(candidates[:_WORDS_MOST]).decode("ascii")


def _scan(text: str) -> list[Finding]:
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import default_settings

    lines = [line if len(line) < _LONG_LINE else f"{line[:_KEPT]} {line[-_KEPT:]}" for line in text.split("\n")]
    with default_settings() as settings, _memory("\n".join(lines)) as name:
        settings.disable_plugins(*_TOO_VAGUE)
        # A comment of the submitter's must not hide a finding; and the copy has no name that says what it is.
        settings.disable_filters("detect_secrets.filters.allowlist.is_line_allowlisted")
        kinds = {potential_secret.line_number: potential_secret.type for potential_secret in scan_file(name)}
    tokens = {
        number: "a token by its form"
        for number, line in enumerate(lines, 1)
        if any(map(_is_token, _TOKEN.finditer(line)))
    }
    return [_secret(f"looks like it holds a secret ({kind})", line) for line, kind in sorted((tokens | kinds).items())]


def _is_token(match: re.Match[str]) -> bool:
    """Letters drawn at random change from small to large about every second time; in names of several words fewer do."""
    letters = match["letters"]
    changes = sum(letter.islower() != after.islower() for letter, after in pairwise(letters))
    return bool(changes > _CHANGES * len(letters))


class _memory:
    """A text as a file that has a name and never touches a disk: the scanner reads files."""

    def __init__(self, text: str) -> None:
        self._descriptor = os.memfd_create("text")
        with open(self._descriptor, "wb", closefd=False) as file:
            file.write(text.encode())

    def __enter__(self) -> str:
        return f"/proc/self/fd/{self._descriptor}"

    def __exit__(self, *error: object) -> None:
        os.close(self._descriptor)


def _secret(sentence: str, line: int) -> Finding:
    return Finding(
        check="secrets",
        sentence=f"{sentence}: withdraw it where it is valid, then hand in the file without it",
        line=line,
    )
