"""Documents, tables and XML that would do something in the program with which a reader opens them."""

from __future__ import annotations

import csv
import html
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice

from assay_zoo.artifacts.pages.lines_with import lines_with
from assay_zoo.artifacts.pages.markup import active_html

_LONGEST_BYTES = 64 << 20
_PIECE_BYTES = 1 << 16
_PDF = re.compile(rb"/(JavaScript|JS|Launch|EmbeddedFile|RichMedia|SubmitForm|ImportData|XFA|Encrypt)(?![A-Za-z0-9])")
"""ISO 32000-1: actions that run or send something (12.6.4), files within (7.11.4), forms of another kind (12.7.8), and what hides them."""
_LONG_NAMES = re.compile(rb"/(JavaScript|Launch|EmbeddedFile|RichMedia|SubmitForm|ImportData)(?![A-Za-z0-9])")
_STREAM = re.compile(rb"stream\r?\n")
_STREAM_OF_OBJECT = re.compile(rb">>\s*stream\r?\n")
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
_DRAWN = ("http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1999/XSL/Transform")
"""A browser runs what of these is in XML, whatever the file is called."""
_FUNCTIONS = ("hyperlink", "webservice", "importxml", "importhtml", "importdata", "importfeed", "importrange", "dde")
_PLAIN_NAMES = ("image", "call", "exec", "rtd", "register.id", "sql.request")
"""Of functions that load or run something, too, where a formula asks for them: they are words of every day."""
_PROGRAMS = ("cmd", "powershell", "mshta", "msexcel", "rundll32")
_STARTING = (*_FUNCTIONS, *_PROGRAMS, *_PLAIN_NAMES)
_FUNCTION = re.compile(rf"\b(?:{'|'.join(_FUNCTIONS)})\s*\(", re.IGNORECASE)
_PLAIN_NAME = re.compile(rf"\b(?:{'|'.join(map(re.escape, _PLAIN_NAMES))})\s*\(", re.IGNORECASE)
_SIGNED_NAME = re.compile(rf"[-+*/^&@=(\d.]*(?:_xl\w+\.)?{_PLAIN_NAME.pattern[2:]}", re.IGNORECASE)
"""Behind +, - or @, which also begin a line of words."""
_TEXT = re.compile(r"""\"[^"]*"|'[^']*'!""")
_WORDS = re.compile(r"\b[^\W\d_]+\s+(?:==|\w)")
"""Two words side by side, as in no formula."""
_PROGRAM = re.compile(rf"(?:{'|'.join(_PROGRAMS)})\s*\|", re.IGNORECASE)
_FORMULA = re.compile(r"""(?:^|[,;\t"])[^\S\t]*[=+@-]""")
_BEGIN = re.compile(r"\s*[=+@-]")
_PARTS = re.compile(r'"[^"]*"|[(),;\t]')
_PARTS_IN_QUOTES = re.compile(r'""[^"]*""|["(),;\t]')
"""What a table calculation starts, or sends somewhere (OWASP, CSV Injection), and how a cell begins that it calculates."""


def active_pdf(data: bytes) -> list[tuple[int, str]]:
    """(0, what is active). A long name stands nowhere by chance, a short one may in a drawing."""
    active: dict[str, None] = {}
    for part in _objects(data):
        active.update(dict.fromkeys(match[1].decode() for match in _PDF.finditer(_unescaped(part))))
    for part in chain([data], _unpacked(data)):
        active.update(dict.fromkeys(match[1].decode() for match in _LONG_NAMES.finditer(_unescaped(part))))
    return [(0, f"/{name} in a PDF") for name in active]


def _unescaped(data: bytes) -> bytes:
    return _ESCAPED.sub(lambda escape: bytes([int(escape[1], 16)]), data)


def _objects(data: bytes) -> Iterator[bytes]:
    """What is no stream, and streams that hold objects: the rest are drawings, in which any name may stand by chance."""
    at = 0
    while match := _STREAM_OF_OBJECT.search(data, at):
        before = data[at : match.start()]
        yield before
        end = data.find(b"endstream", match.end())
        end = len(data) if end < 0 else end
        dictionary = _unescaped(before[before.rfind(b"endobj") + 1 :])
        if b"/ObjStm" in dictionary:
            yield _inflated(data[match.end() : end]) if b"/Filter" in dictionary else data[match.end() : end]
        at = end + len(b"endstream")
    yield data[at:]


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Whatever unpacks behind the word that a stream begins with, be it in a comment or a text; to where it ends by itself."""
    for match in _STREAM.finditer(data):
        unpacking, parts, size, at = zlib.decompressobj(), list[bytes](), 0, match.end()
        with suppress(zlib.error):
            while not unpacking.eof and at < len(data) and size < _LONGEST_BYTES:
                parts.append(unpacking.decompress(data[at : at + _PIECE_BYTES], _LONGEST_BYTES))
                size += len(parts[-1])
                at += _PIECE_BYTES
        yield b"".join(parts)


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, _LONGEST_BYTES)
    except zlib.error:
        return b"/Encrypt "


def active_xml(text: str) -> list[tuple[int, str]]:
    """(line, what is active)."""
    style_sheets = [
        (text.count("\n", 0, match.start()) + 1, "a style sheet of its own")
        for match in re.finditer(r"<\?xml-stylesheet", text)
    ]
    plain = html.unescape(text)
    drawn = any(namespace in plain for namespace in _DRAWN) or re.search("<!entity", text, re.IGNORECASE)
    return [*style_sheets, *((line + 1, problem) for line, problem in (active_html(text) if drawn else []))]


def active_table(text: str) -> list[tuple[int, str]]:
    """(line, what is active), the first one."""
    lines = (number for number, line in lines_with(text, _STARTING) if _is_active(line))
    return [
        (number, "a formula that starts or sends something") for number in islice(chain(lines, _over_lines(text)), 1)
    ]


def _over_lines(text: str) -> Iterator[int]:
    """Last lines of cells of several lines that are such a formula."""
    if '"' not in text or not any(pattern.search(text) for pattern in (_FUNCTION, _PLAIN_NAME, _PROGRAM)):
        return
    csv.field_size_limit(max(len(text), csv.field_size_limit()))  # of the whole process: never lower for others
    for parts in ",;\t":
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=parts)
        for row in rows:
            for cell in row:
                if (
                    ("\n" in cell or "\r" in cell)
                    and (begin := _BEGIN.match(cell))
                    and _starts(begin[0], cell[begin.end() :])
                ):
                    yield rows.line_num


def _starts(begin: str, formula: str) -> bool:
    """Whether a formula that begins so starts or sends something."""
    named = _names_function(formula) if "=" in begin else _SIGNED_NAME.match(formula)
    return bool(named or _FUNCTION.search(formula) or _PROGRAM.search(formula))


def _names_function(formula: str) -> bool:
    """Before any words of every day, and in no text; a cell in quotes has each quote in it twice."""
    for plain in {formula, formula.replace('""', '"')}:
        whole = _TEXT.sub('"', plain)
        name, words = _PLAIN_NAME.search(whole), _WORDS.search(whole)
        if name and (words is None or name.start() <= words.start()):
            return True
    return False


def _is_active(line: str) -> bool:
    begin, end = _FORMULA.search(line), 0
    while begin is not None:
        end = _end_of_formula(line, begin)
        formula = line[begin.end() : end]
        if _starts(begin[0], formula):
            return True
        begin = _FORMULA.search(line, max(end, begin.end()))
    return False


def _end_of_formula(line: str, begin: re.Match[str]) -> int:
    """Where the next cell begins: what parts cells is part of a formula only in its brackets and texts."""
    depth = 0
    for part in (_PARTS_IN_QUOTES if begin[0].startswith('"') else _PARTS).finditer(line, begin.end()):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if part[0] == '"' or (depth <= 0 and part[0] in ",;\t"):
            return part.start()
    return len(line)
