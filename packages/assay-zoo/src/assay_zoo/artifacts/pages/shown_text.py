"""A text as its reader sees it: no markup, no signs that nobody sees, every dash and space the plain one, each line where it was."""

from __future__ import annotations

import html
import re
import unicodedata

from assay_zoo.artifacts.pages.alike import odd_word
from assay_zoo.conflicts import LIKE_LATIN

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
_LINE = re.compile(r"<(?:br|hr|p|div|li|td|th|tr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|(?<=\w)<!--[^\n]{0,80}?-->(?=\w)")
_EMPHASIS = re.compile(r"\*+|~~+|(?<![A-Za-z0-9])_{1,3}(?=\w)|(?<=[A-Za-z0-9])_{1,3}(?![A-Za-z0-9_])|`(?=\w)|(?<=\w)`")
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_WORD = re.compile(r"[^\W\d_]+")


def shown_text(text: str) -> str:
    if "&" in text:
        text = _ENTITY.sub(lambda match: " ".join(html.unescape(match[0]).splitlines()) or " ", text)
    if "<" in text:
        text = _TAG.sub(lambda match: "\n" * match[0].count("\n"), _LINE.sub(_only_lines, text))
    text = _EMPHASIS.sub("", _ESCAPE.sub("", text))
    if text.isascii():
        return text
    whole = unicodedata.normalize("NFC", text)
    letters = str.maketrans({letter: _plain(letter) for letter in set(whole) if not letter.isascii()})
    return _WORD.sub(_in_one_alphabet, whole.translate(letters))


def _only_lines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") or " "


def _plain(letter: str) -> str:
    category = unicodedata.category(letter)
    if category == "Cf" or "\ufe00" <= letter <= "\ufe0f" or letter == "\u034f":
        return ""
    if category == "Pd" or letter == "\u2212":
        return "-"
    if category == "Zs":
        return " "
    return unicodedata.normalize("NFKC", letter) if category[0] == "L" else letter


def _in_one_alphabet(match: re.Match[str]) -> str:
    """A word of two alphabets that look alike is read as a Latin one."""
    word = match[0]
    return word.lower().translate(LIKE_LATIN) if not word.isascii() and odd_word(word) else word
