"""Hostile text made harmless: model names, native logs and messages are written by third parties."""

from __future__ import annotations

import re

_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"  # DCS and its like
    r"|\x1b[ -/]*[0-~]"  # two-character escapes
)
# What is then left and is no printable text: C0 and C1 controls, lone surrogates, what XML forbids, and the marks that
# reorder text on a screen.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def sanitize(text: str) -> str:
    """The text without terminal sequences; any other control character is shown as its escape (`\\x07`, `\\u202e`).

    Newline and tab stay, CR LF becomes a newline.
    """
    if text.isprintable():
        return text  # nothing that either pattern finds is printable
    text = _ANSI.sub("", text.replace("\r\n", "\n"))
    return _UNSEEN.sub(_escape, text)


def one_line(text: str) -> str:
    """`sanitize`, with every run of white space as one space."""
    return " ".join(sanitize(text).split())


def shortened(text: str, limit: int) -> str:
    """The end of a long text, with a line that says how much was left out; a log's cause stands at its end."""
    if len(text) <= limit:
        return text
    return f"[the first {len(text) - limit} characters are left out]\n{text[-limit:]}"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
