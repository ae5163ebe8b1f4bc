"""Terms of use in an author's own words: whoever states some and names no licence asks a person to read them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from assay_zoo.artifacts.pages.shown_text import shown_text
from assay_zoo.artifacts.rights.license import license_of
from assay_zoo.artifacts.rights.restricted_use import NOTICES, notice_restriction
from assay_zoo.license_families import families_of
from assay_zoo.readme import own_sections

_FILES = re.compile(r"^(?:terms|eula|legal)(?:[-_. ].*)?$", re.IGNORECASE)
_HEADING = re.compile(r"^ {0,3}(#{1,6}) +(.*)$")
_OF_TERMS = re.compile(
    r"^(?:the |our )?(?:(?:terms|conditions)(?: (?:and|of)\b.*)?|eula|(?:permitted|acceptable|allowed) use|usage rights"
    r"|licen[cs](?:es?|ing)(?: (?:of|terms|and)\b.*)?)\W*$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^\W\d_]\w*\W+\w.*[.!]\W*$|\w only$", re.IGNORECASE)
_POINTS = re.compile(
    r"\bLICEN[CS]E\b|\bLICENSES/|\blicen[cs]e (?:file|above|section|of the (?:model|zoo))|\bpublic domain\b|\bsame licen[cs]e\b"
)
"""To a licence that stands elsewhere."""


def kept_to_some(path: str, text: str) -> str:
    """What a notice takes away, or terms that name no licence; "" for nothing."""
    is_notice = NOTICES.match(PurePosixPath(path).name) is not None
    return (notice_restriction(text) if is_notice else "") or unnamed_terms(path, text)


def unnamed_terms(path: str, text: str) -> str:
    """The first sentence of terms that name no licence: of a file that is called so, or a section; "" for none."""
    if _FILES.match(PurePosixPath(path).name):
        return _unnamed(shown_text(text))
    if not path.lower().endswith((".md", ".markdown")):
        return ""
    sections = _sections(own_sections(text) if path == "README.md" else text)
    return next(filter(None, map(_unnamed, sections)), "")


def _sections(text: str) -> list[str]:
    """Of terms, each with what is below it in the outline."""
    sections: list[list[str]] = []
    level = 0
    for line in shown_text(text).splitlines():
        match = _HEADING.match(line)
        if match and (not level or len(match[1]) <= level):
            level = len(match[1]) if _OF_TERMS.match(match[2].strip(" #")) else 0
            sections += [[]] if level else []
        elif level:
            sections[-1].append(line)
    return ["\n".join(lines) for lines in sections]


def _unnamed(text: str) -> str:
    if families_of(text) or license_of(text) or _POINTS.search(text):
        return ""
    return next((line.strip()[:100] for line in text.splitlines() if _SENTENCE.search(line.strip())), "")
