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
_BEFORE, _AFTER = r"(?<![\w+-])", r"(?![\w/+=-])"
_ISSUED = re.compile(
    _BEFORE
    + r"(?:hf_|sk-|github_pat_|r8_|gsk_|nvapi-|ya29\.|AIza|Bearer +)(?:[a-z0-9]+[_-]){0,2}(?P<letters>[A-Za-z0-9_-]{30,200})"
    + _AFTER
)
"""Tokens of which everybody knows by the prefix who gives them out."""
_TOKEN = re.compile(
    _BEFORE
    + r"[A-Za-z][A-Za-z0-9]{1,7}[_.-](?:[A-Za-z0-9]{1,14}[_.-]){0,3}(?P<letters>[A-Za-z0-9]{30,200}(?:[_-][A-Za-z0-9]{1,200})*)"
    + _AFTER
)
_IN_BASE64 = re.compile(r"[A-Za-z0-9+]{20}[=/]+\Z")
_ISSUED_CHANGES, _CHANGES = 0.3, 0.38
_KEPT = 2_000
"""Of both ends of a long line: what lies between are the bytes of an image in a notebook."""


def secrets_in(item: Item) -> list[Finding]:
    """One finding a line. The secret itself is never repeated."""
    if item.suffix in _KEY_FILES:
        return [_secret(f"is a key store by its name ({item.suffix})", 0)]
    if item.suffix in _MODELS:
        secrets = sorted(_scan(_words_of(item)), key=lambda finding: not finding.certain)
        return [msgspec.structs.replace(finding, line=0) for finding in secrets[:1]]
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
    tokens = [
        _secret("looks like it holds a secret (a token by its form)", number, certain=certain)
        for number, line in enumerate(lines, 1)
        if number not in kinds and (certain := _certainty(line)) is not None
    ]
    known = [_secret(f"looks like it holds a secret ({kind})", line) for line, kind in kinds.items()]
    return sorted((*known, *tokens), key=lambda finding: finding.line)


def _certainty(line: str) -> bool | None:
    """Whether it is sure that the line holds a token, None where it holds none: an id has a prefix, too."""
    if any(_is_token(match, _ISSUED_CHANGES) for match in _ISSUED.finditer(line)):
        return True
    return False if any(_is_token(match, _CHANGES) for match in _TOKEN.finditer(line)) else None


def _is_token(match: re.Match[str], least: float) -> bool:
    """Letters drawn at random change from small to large about every second time; in names of several words fewer do, in digests none."""
    letters = [letter for letter in match["letters"] if letter.isalpha()]
    if 2 * len(letters) < len(match["letters"]) or set(match["letters"].lower()) <= set("0123456789abcdef_-"):
        return False
    if _IN_BASE64.search(match.string, max(match.start() - 30, 0), match.start()):
        return False
    changes = sum(letter.islower() != after.islower() for letter, after in pairwise(letters))
    return bool(changes > least * len(letters))


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


def _secret(sentence: str, line: int, *, certain: bool = True) -> Finding:
    return Finding(
        check="secrets",
        sentence=f"{sentence}: withdraw it where it is valid, then hand in the file without it"
        + ("" if certain else ", or a person looks"),
        line=line,
        certain=certain,
    )
