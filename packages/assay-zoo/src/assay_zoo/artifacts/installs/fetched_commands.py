"""Commands of a shell that run what an address gives: at once, or by the name under which they keep it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay_zoo.artifacts.installs.install_commands import without_comment

_FETCHERS = "(?:curl|wget|aria2c|iwr|irm|Invoke-(?:WebRequest|RestMethod))"
_SHELLS = "(?:(?:ba|z|da|k)?sh|iex|Invoke-Expression)"
_OTHERS = r"(?:python[\d.]*|perl|ruby|node)"
_FETCH = re.compile(rf"(?<![\w-]){_FETCHERS}(?:\.exe)?(?=\s)|\.DownloadString(?=\()", re.IGNORECASE)
_INSIDE = re.compile(
    rf"(?:\b(?:{_SHELLS}|{_OTHERS}|eval|source)|(?<!\S)\.)\s+(?:-c\s+|<<<\s*)?[\"']?(?:[<$]\(|`)\s*{_FETCHERS}\b"
    rf"|\b(?:iex|Invoke-Expression)\s+[\"']?\$?\(+\s*(?:{_FETCHERS}|New-Object\s+(?:System\.)?Net\.WebClient)\b",
    re.IGNORECASE,
)
_PART = r"[^\s;&|()]"
_FOLDER = rf"(?:{_PART}{{0,200}}/)?"
_AROUND = rf"(?>{_FOLDER}(?:sudo|env|time|nohup|exec)\s+|(?:-[ug]|--user|--group)\s+(?!-){_PART}+\s+|-{_PART}+\s+|\w+={_PART}*\s+)*+"
"""What only says how a command is run."""
_OWN_FILE = r"[\w-]+[./]\w|\./"
_READS = (
    rf"{_FOLDER}(?:{_SHELLS}(?:\.exe)?(?![\w.-])(?!\s+(?:{_OWN_FILE}))"
    rf"|{_OTHERS}(?:\.exe)?(?![\w.-])(?!\s+(?:-[a-z]*[cm]|{_OWN_FILE})))"
)
"""An interpreter that runs what it reads: of a file, or of code of its own, what it reads is data."""
_PIPED = re.compile(
    rf"(?<!\|)\|&?(?!\|)\s*+(?:[({{][\s({{]*+(?:[^|;&()]{{0,200}}(?:;|&&)\s*+){{0,5}})?{_AROUND}{_READS}"
    rf"|\|[^|;&()]{{0,200}}>\(\s*+{_AROUND}{_READS}",
    re.IGNORECASE,
)
"""Behind a bar, also as one of several commands in brackets."""
_KEPT = re.compile(
    r"\s(?:-\w*[oO]|--output(?:-document)?|--out|-OutFile)[= ]?\s*([^\s;&|-][^\s;&|]*)|>\s*([^\s;&|>]+)", re.IGNORECASE
)
_BY_ADDRESS = re.compile(r"://[^\s'\"?#]*/([^\s'\"?#/]+)")
_KEEPS_NAME = re.compile(r"\s(?:-\w*O\w*|--remote-name)\b")
_RUN_FILE = re.compile(
    rf"(?:^|[;&|(])\s*+(?:[$>%!]\s*)?(?:(?:then|do)\s+)?{_AROUND}(?:{_FOLDER}(?:{_SHELLS}|{_OTHERS}|source|\.)(?:\s+-{_PART}+)*+"
    rf"(?:\s*<\s*|\s+)({_PART}+)|({_PART}*[/\\]{_PART}+))",
    re.IGNORECASE,
)
"""A sentence, too, has the words `source` and `node`: only at its begin are they a command."""
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_BETWEEN = re.compile(r"[\s;&|()]")
_GOES_ON = re.compile(r"\\[ \t]*$|[$<]\([ \t]*$|^(?!\s*\|).*\|[ \t({]*(?:\s#.*)?$")
"""A row of a table, that begins with a bar, goes on nowhere."""
_WORDS = 60


def run_from_address(code: str, fetched: set[str]) -> str:
    """The words that run what an address gives, "" for none. `fetched` are names of files that come from one: more are put to them."""
    return next((words for _, words in runs_from_addresses(code, fetched)), "")


def runs_from_addresses(code: str, fetched: set[str]) -> Iterator[tuple[int, str]]:
    """(line, words). What is kept in one line may be run in any that follows."""
    for number, line in _commands(code):
        plain = _QUOTED.sub(lambda quoted: _BETWEEN.sub("_", quoted[0][1:-1]), line)
        if words := _piped_in(line) or _piped_in(plain):
            yield number, words
        elif (fetches := _FETCH.search(plain) is not None) or fetched:
            fetched |= set(_kept_by(plain)) if fetches else set()
            match = next((each for each in _RUN_FILE.finditer(plain) if _base(each[1] or each[2]) in fetched), None)
            if match:
                yield number, match[0].strip(" ;&|(")[:_WORDS]


def _piped_in(line: str) -> str:
    fetch = _FETCH.search(line)
    match = fetch and (_INSIDE.search(line) or _PIPED.search(line, fetch.end()))
    if not fetch or not match:
        return ""
    return f"{line[fetch.start() : match.start()].strip()} {match[0].strip()}"[-_WORDS:].strip()


def _commands(code: str) -> Iterator[tuple[int, str]]:
    """Lines without their comments, each with those in which it goes on."""
    begun, parts = 0, list[str]()
    for number, line in enumerate(code.splitlines(), 1):
        begun = begun or number
        goes_on = _GOES_ON.search(f"> {line}" if parts else line) is not None
        parts.append(without_comment(line).rstrip().removesuffix("\\"))
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
    return re.split(r"[/\\]", path.strip("'\"`"))[-1]
