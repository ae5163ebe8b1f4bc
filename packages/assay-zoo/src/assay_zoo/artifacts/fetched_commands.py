"""Commands of a shell that run what an address gives: at once, or by the name under which they keep it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FETCHERS = "(?:curl|wget|aria2c|iwr|irm|Invoke-(?:WebRequest|RestMethod))"
_SHELLS = "(?:(?:ba|z|da|k)?sh|iex|Invoke-Expression)"
_OTHERS = r"(?:python[\d.]*|perl|ruby|node)"
_FETCH = re.compile(rf"(?<![\w-]){_FETCHERS}(?:\.exe)?(?=\s)", re.IGNORECASE)
_INSIDE = re.compile(
    rf"(?:\b(?:{_SHELLS}|{_OTHERS}|eval|source)|(?<!\S)\.)\s+(?:-c\s+|<<<\s*)?[\"']?(?:[<$]\(|`)\s*{_FETCHERS}\b"
    rf"|\b(?:iex|Invoke-Expression)\s+[\"']?\$?\(+\s*{_FETCHERS}\b",
    re.IGNORECASE,
)
_AROUND = r"(?>(?:sudo|env|time|nohup|exec)\s+|-[ug]\s+[^-\s]\S*\s+|-\S+\s+|\w+=\S*\s+)*+"
"""What only says how a command is run."""
_OWN_FILE = r"[\w-]+[./]\w|\./"
_PIPED = re.compile(
    rf"(?<!\|)\|&?(?!\|)[\s({{]*(?:[^|&;()]*;\s*)?{_AROUND}(?:\S*/)?(?:{_SHELLS}(?:\.exe)?(?![\w.-])(?!\s+(?:{_OWN_FILE}))"
    rf"|{_OTHERS}(?:\.exe)?(?![\w.-])(?!\s+(?:-[a-z]*[cm]|{_OWN_FILE})))",
    re.IGNORECASE,
)
"""An interpreter that runs what it reads: of a file, or of code of its own, what it reads is data."""
_KEPT = re.compile(
    r"\s(?:-\w*[oO]|--output(?:-document)?|--out|-OutFile)[= ]?\s*([^\s;&|-][^\s;&|]*)|>\s*([^\s;&|>]+)", re.IGNORECASE
)
_BY_ADDRESS = re.compile(r"://[^\s'\"?#]*/([^\s'\"?#/]+)")
_KEEPS_NAME = re.compile(r"\s(?:-\w*O\w*|--remote-name)\b")
_RUN_FILE = re.compile(
    rf"(?<![\w-])(?:{_SHELLS}|{_OTHERS}|source|\.)\s+(?:-\S+\s+)*(\S+)|(?:^|[;&|(])\s*(?:[$>%!]\s*)?{_AROUND}(\S*/\S+)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?:^|\s)#.*")
_GOES_ON = re.compile(r"\\[ \t]*$|^(?!\s*\|).*\|[ \t]*(?:\s#.*)?$")
"""A row of a table, that begins with a bar, goes on nowhere."""
_WORDS = 60


def run_from_address(code: str, fetched: set[str]) -> str:
    """The words that run what an address gives, "" for none. `fetched` are names of files that come from one: more are put to them."""
    return next((words for _, words in runs_from_addresses(code, fetched)), "")


def runs_from_addresses(code: str, fetched: set[str]) -> Iterator[tuple[int, str]]:
    """(line, words). What is kept in one line may be run in any that follows."""
    for number, line in _commands(code):
        fetch = _FETCH.search(line)
        if fetch and (match := _INSIDE.search(line) or _PIPED.search(line, fetch.end())):
            yield number, f"{line[fetch.start() : match.start()].strip()} {match[0].strip()}"[-_WORDS:].strip()
        elif fetched or fetch:
            fetched |= set(_kept_by(line)) if fetch else set()
            match = next((each for each in _RUN_FILE.finditer(line) if _base(each[1] or each[2]) in fetched), None)
            if match:
                yield number, match[0].strip(" ;&|(")[:_WORDS]


def _commands(code: str) -> Iterator[tuple[int, str]]:
    """Lines without their comments, each with those in which it goes on."""
    begun, parts = 0, list[str]()
    for number, line in enumerate(code.splitlines(), 1):
        begun = begun or number
        goes_on = _GOES_ON.search(line) is not None
        parts.append(_COMMENT.sub("", line).rstrip().removesuffix("\\"))
        if not goes_on:
            yield begun, " ".join(parts)
            begun, parts = 0, []
    if parts:
        yield begun, " ".join(parts)


def _kept_by(line: str) -> Iterator[str]:
    """Names under which an answer may lie afterwards. curl keeps nothing by the name of the address without -O."""
    yield from (_base(match[1] or match[2]) for match in _KEPT.finditer(line))
    if "curl" not in line.lower() or _KEEPS_NAME.search(line):
        yield from _BY_ADDRESS.findall(line)


def _base(path: str) -> str:
    return path.strip("'\"`").rpartition("/")[2]
