"""What a badge of a README says: a licence or a number that its metadata do not say is none of its."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from assay_zoo.license_families import families_of

if TYPE_CHECKING:
    from markdown_it.token import Token

_CLAIMING = re.compile(
    r"accura|precision|recall|\btop-?[0-9]|\bm?ap\b|\bf1\b|\bm?iou\b|%25|[0-9]\s?%(?![0-9A-Fa-f]{2})", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"""\b(src|srcset|alt|title)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_MAKERS = re.compile(r"(?:^|\.)(?:shields\.io|badgen\.net)")
"""They write on a badge what its address says."""
_DASH = re.compile(r"(?<!-)-(?!-)|/")
_NUMBER = re.compile(r"(?<![A-Za-z0-9])v?[0-9][0-9A-Za-z.+]*")
_WORD = re.compile(r"[^\W\d_]+")
_COUNTED = {
    "python", "pytorch", "torch", "tensorflow", "numpy", "cuda", "onnx", "onnxruntime", "runtime", "opset", "ir", "version", "versions",
    "release", "arxiv", "doi", "zenodo", "made", "with", "powered", "by", "requires", "params", "parameters", "size",
}  # fmt: skip
"""Words of badges whose numbers do not say how good a model is."""
_LICENSE = re.compile(r"licen[cs]e\b", re.IGNORECASE)
_LICENSE_IS = re.compile(r"licen[cs]e\s*[:=-]\s*\w", re.IGNORECASE)
_TERMS = re.compile(r"\b(?:nc|nd|sa)\b")
"""Of Creative Commons: what is not allowed, or only on the same terms."""


def is_harmless_badge(token: Token, paragraph: str, license: str) -> bool:
    """Whether pictures say neither how good the model is nor another licence. Where a link leads is not looked at."""
    if _CLAIMING.search(paragraph):
        return False
    texts, badges = [], []
    for name, value in _shown(token):
        if not name.startswith("src"):
            texts.append(value)
        elif written := _on_badge(value):
            badges.append(written)
    another = any(families_of(text) - families_of(license) for text in (*texts, *badges))
    licenses = [*filter(_LICENSE.search, badges), *filter(_LICENSE_IS.search, texts)]
    counted = (badge for badge in badges if _NUMBER.search(badge) and not _LICENSE.search(badge))
    return (
        not another
        and not any(map(_CLAIMING.search, (*texts, *badges)))
        and all(_is_license(words, license) for words in licenses)
        and all({word.casefold() for word in _WORD.findall(_NUMBER.sub(" ", words))} <= _COUNTED for words in counted)
    )


def _shown(token: Token) -> Iterator[tuple[str, str]]:
    """Addresses and words of pictures."""
    for part in [token, *(token.children or [])]:
        if part.type == "image":
            yield from (
                ("src", str(part.attrs.get("src", ""))),
                ("alt", part.content),
                ("title", str(part.attrs.get("title", ""))),
            )
        elif part.type in ("html_block", "html_inline"):
            yield from (
                (match[1].lower(), next(filter(None, match.groups()[1:]), ""))
                for match in _ATTRIBUTE.finditer(part.content)
            )


def _on_badge(address: str) -> str:
    """The words that it is asked to show: `/badge/NAME-VALUE-COLOUR`, or a label and a message; "" for another picture."""
    try:
        parts = urlsplit(address)
        is_written = _MAKERS.search(parts.hostname or "") is not None
    except ValueError:
        return address
    _, is_badge, path = parts.path.rpartition("/badge/")
    asked = parse_qs(parts.query)
    words = [_plain(part) for part in _DASH.split(path)[:-1]] if is_badge and is_written else []
    return " ".join([*words, *(value for key in ("label", "message") for value in asked.get(key, ()))])


def _plain(part: str) -> str:
    return unquote(part).replace("_", " ").replace("--", "-")


def _is_license(words: str, license: str) -> bool:
    """Whether they say the licence of the metadata, as far as they say one."""
    small, own = words.casefold(), license.casefold()
    numbers: Sequence[str] = [number.lstrip("v") for number in _NUMBER.findall(small)]
    names = bool(families_of(words) & families_of(license)) or own in small
    return names and all(number in own for number in numbers) and set(_TERMS.findall(small)) <= set(_TERMS.findall(own))
