"""Words of a submission in our mouth: nothing of them is markup, a mention, a command or a link any more."""

from __future__ import annotations

import re

_BREAK = "\u200b"
"""A space of no width: what it parts is no reference and no address any more, and still reads the same."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()#|~>$^])")
_REFERENCES = re.compile(r"([@#!$~%&]|:(?=//)|www|[A-Za-z]{2,}-(?=\d))")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def sanitize(text: str, most: int = 500) -> str:
    """One line without control or direction characters, cut at `most`."""
    line = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(line.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def markdown(text: str, most: int = 500) -> str:
    """For the comment of a forge: shown as it is, whatever it holds. Never to be put at the beginning of a line (GitLab
    obeys lines that begin with "/")."""
    broken = _REFERENCES.sub(lambda match: match[0] + _BREAK, sanitize(text, most))
    marked = _MARKUP.sub(r"\\\1", broken.replace(">", "\0"))
    return "".join(_ENTITIES.get(c, c) for c in marked).replace("\0", "&gt;")
