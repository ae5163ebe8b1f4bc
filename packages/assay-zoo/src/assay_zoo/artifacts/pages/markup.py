"""Markdown and HTML that would do something in a reader's browser: what nh3 would take away is told, and declines."""

from __future__ import annotations

import html.parser
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

_SHOWING = (
    "picture", "source", "section", "figure", "figcaption", "font", "input", "svg", "path", "label", "style", "html", "head", "body",
)  # fmt: skip
"""Beyond nh3's own: harmless ways to show something, or what a notebook's tables are made of."""
_DRAWING = (
    "g", "image", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "defs", "use", "clippath", "lineargradient",
    "radialgradient", "stop", "title", "desc", "symbol", "marker", "mask", "pattern", "metadata",
)  # fmt: skip
"""Of a picture in SVG, beside what may describe it (rdf:, cc:, dc:)."""
_ADDRESSES = ("href", "src", "action", "formaction", "data", "poster", "background", "srcset", "xlink:href", "cite")
_HOST = re.compile(r"(?:https?://)?(?:www\.)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})(?:[/?#:]|$)")
_SHOWN = re.compile(r"https?://|www\.|[A-Za-z0-9.-]+\.(?:com|org|net|io|ai|dev|edu|gov)(?:[/?#:]|$)")
"""Words that a reader takes for an address."""
_LAID_OVER = re.compile(r"position\s*:\s*(?:fixed|absolute|sticky)", re.IGNORECASE)
_LOADING = ("expression(", "url(", "@import")
_INLINE_IMAGE = ("data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp")


def active_markdown(text: str) -> list[tuple[int, str]]:
    """(line, what is active). Every address is taken for a link, also one that some renderers leave alone."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")
    reader.validateLink = lambda url: True  # type: ignore[method-assign]
    active: list[tuple[int, str]] = []
    for token in reader.parse(text):
        line = token.map[0] + 1 if token.map else 0
        for part in [token, *(token.children or [])]:
            if part.type in ("html_block", "html_inline"):
                active += [(line + more, problem) for more, problem in active_html(part.content)]
            for name in ("href", "src"):
                if problem := _address(str(part.attrs.get(name, ""))):
                    active.append((line, problem))
        active += [(line, problem) for problem in _misleading(token.children or [])]
    return list(dict.fromkeys(active))


def _misleading(tokens: Sequence[Token]) -> Iterator[str]:
    """A link whose words are the address of another host than it leads to."""
    leads, words = "", ""
    for token in tokens:
        if token.type == "link_open":
            leads, words = str(token.attrs.get("href", "")), ""
        elif token.type == "link_close":
            shown = _HOST.match(words.strip()) if _SHOWN.match(words.strip()) else None
            where = _HOST.match(leads)
            if shown and where and shown[1].lower() != where[1].lower():
                yield f"a link that shows {shown[1][:60]} and leads to {where[1][:60]}"
            leads = ""
        elif leads:
            words += token.content


def active_html(text: str) -> list[tuple[int, str]]:
    """(lines below the first, what is active)."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.found


class _Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self._tag = ""

    def handle_data(self, data: str) -> None:
        """Styles load, and inside a picture browsers read tags where this reader sees text."""
        if self._tag in ("style", "title") and any(word in data.lower() for word in ("<", *_LOADING)):
            self.found.append((self.getpos()[0] - 1, f"a <{self._tag}> that holds or loads something"))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._tag = ""

    def handle_decl(self, decl: str) -> None:
        if "<!entity" in decl.lower():
            self.found.append((self.getpos()[0] - 1, "an entity of its own"))

    def handle_comment(self, data: str) -> None:
        if data.startswith((">", "->")):
            self.found.append((self.getpos()[0] - 1, "a comment that browsers end at once"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        import nh3

        self._tag = tag
        line = self.getpos()[0] - 1
        harmless = tag in nh3.ALLOWED_TAGS or tag in (*_SHOWING, *_DRAWING) or tag.startswith(("rdf:", "cc:", "dc:"))
        if not harmless:
            self.found.append((line, f"<{tag[:20]}>"))
        self.found += [(line, problem) for problem in _attributes(tag, attrs)]


def _attributes(tag: str, attrs: list[tuple[str, str | None]]) -> Iterator[str]:
    for name, value in attrs:
        if name.startswith("on"):
            yield f"{name[:20]} of <{tag[:20]}>"
        elif name in _ADDRESSES and (address := _address(value or "")):
            yield address
        elif tag == "img" and name in ("width", "height") and (value or "").strip().rstrip("px%") in ("0", "1"):
            yield "a picture that nobody sees, which tells its host who reads"
        elif name == "style" and any(word in (value or "").lower() for word in _LOADING):
            yield f"a style of <{tag[:20]}> that loads something"
        elif name == "style" and _LAID_OVER.search(value or ""):
            yield f"a style of <{tag[:20]}> that lays it over the page"


def _address(value: str) -> str:
    """An address whose scheme runs something; "" for a harmless one."""
    import nh3

    plain = "".join(value.split()).casefold()
    scheme, colon, _ = plain.partition(":")
    known = (
        scheme in (*nh3.ALLOWED_URL_SCHEMES, "attachment") or plain.startswith(_INLINE_IMAGE) or not scheme.isascii()
    )
    relative = not colon or any(c in scheme for c in "/?#.")
    return "" if known or relative else f"an address with {scheme[:20]}:"
