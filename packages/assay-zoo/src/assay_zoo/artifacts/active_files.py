"""Documents, tables and XML that would do something in the program with which a reader opens them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from assay_zoo.artifacts.markup import active_html

_LONGEST_BYTES = 64 << 20
_PDF = re.compile(rb"/(JavaScript|JS|Launch|EmbeddedFile|RichMedia|SubmitForm|ImportData|XFA|Encrypt)(?![A-Za-z0-9])")
"""ISO 32000-1: actions that run or send something (12.6.4), files within (7.11.4), forms of another kind (12.7.8), and what hides them."""
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
_DRAWN = ("http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1999/XSL/Transform")
"""A browser runs what of these is in XML, whatever the file is called."""
_FORMULA = re.compile(
    r"""(?m)(?:^|[,;\t"])\s*(?:[=+@-][^,;\t\n]*(?:cmd|powershell|mshta|msexcel|rundll32)\s*\||=\s*(?:HYPERLINK|WEBSERVICE|IMPORT\w+|DDE)\()""",
    re.IGNORECASE,
)
"""What a table calculation starts, or sends somewhere (OWASP, CSV Injection)."""


def active_pdf(data: bytes) -> list[tuple[int, str]]:
    """(0, what is active)."""
    found: dict[str, None] = {}
    for part in _objects(data):
        plain = _ESCAPED.sub(lambda escape: bytes([int(escape[1], 16)]), part)
        found.update(dict.fromkeys(match[1].decode() for match in _PDF.finditer(plain)))
    return [(0, f"/{name} in a PDF") for name in found]


def _objects(data: bytes) -> Iterator[bytes]:
    """What is no stream, and streams that hold objects: the rest are drawings, in which any name may stand by chance."""
    at = 0
    while (start := data.find(b"stream", at)) >= 0:
        before = data[at:start]
        yield before
        end = data.find(b"endstream", start)
        end = len(data) if end < 0 else end
        if b"/ObjStm" in before[-2000:]:
            yield _inflated(data[start + len(b"stream") : end].lstrip(b"\r\n"))
        at = end + len(b"endstream")
    yield data[at:]


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, _LONGEST_BYTES)
    except zlib.error:
        return b"/Encrypt "


def active_xml(text: str) -> list[tuple[int, str]]:
    """(line, what is active)."""
    found = [
        (text.count("\n", 0, match.start()) + 1, "a style sheet of its own")
        for match in re.finditer(r"<\?xml-stylesheet", text)
    ]
    drawn = any(namespace in text for namespace in _DRAWN) or re.search("<!entity", text, re.IGNORECASE)
    return [*found, *((line + 1, problem) for line, problem in (active_html(text) if drawn else []))]


def active_table(text: str) -> list[tuple[int, str]]:
    """(line, what is active), the first one."""
    match = _FORMULA.search(text)
    return [(text.count("\n", 0, match.end()) + 1, "a formula that starts or sends something")] if match else []
