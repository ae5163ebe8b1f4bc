"""Commands of a shell that run what an address gives: at once, or by the name under which they keep it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay_zoo.artifacts.install_commands import SHELL_END, shell_lines

_FETCHERS = "curl|wget|aria2c|iwr|irm|Invoke-(?:WebRequest|RestMethod)"
_SHELLS = "(?:ba|z|da|k)?sh|iex|Invoke-Expression"
_FETCHER = re.compile(_FETCHERS, re.IGNORECASE)
_SHELL = re.compile(_SHELLS, re.IGNORECASE)
_RUNNER = re.compile(rf"{_SHELLS}|python[\d.]*|perl|ruby|node|source|\.", re.IGNORECASE)
_INSIDE = re.compile(
    rf"(?:\b(?:(?:ba|z|da|k)?sh|python[\d.]*|eval|source)|(?<!\S)\.)\s+(?:-c\s+|<<<\s*)?[\"']?(?:[<$]\(|`)\s*(?:{_FETCHERS})\b"
    rf"|\b(?:iex|Invoke-Expression)\s+[\"']?\$?\(+\s*(?:{_FETCHERS})\b",
    re.IGNORECASE,
)
_INTO = ("-o", "--output", "-O", "--output-document", "-OutFile", "--out")
_OWN_FILE = re.compile(r"[\w-]+[./]\w.*|\./.*")
_AROUND = ("sudo", "env", "time", "nohup", "exec", "then", "do", "$", "!", "%")
_AS_WHOM = ("-u", "-g", "--user", "--group")
"""Options of these that a value follows."""
_BETWEEN = re.compile(r"\|\||&&|\|&|[;&|()]")


def run_from_address(code: str, fetched: set[str]) -> str:
    """The words that run what an address gives, "" for none. `fetched` are names of files that come from one: more are put to them."""
    if inside := _INSIDE.search(code):
        return inside[0][:60]
    lines = ((line, _Line(fetched)) for line in shell_lines(code))
    return next((words for line, read in lines if (words := read.run_in(line))), "")


@dataclass
class _Group:
    """What stands in one pair of brackets, or in the line itself."""

    given: bool
    """Whether its input comes from an address."""
    comes: bool
    """The same of the command that is read now."""
    inner: bool = False
    """Whether an address is fetched in brackets of this command."""
    gives: bool = False
    """Whether one is fetched anywhere in the group."""


class _Line:
    """One line, read from its begin to its end: what is in brackets is the input of what stands behind them and |."""

    def __init__(self, fetched: set[str]) -> None:
        self._fetched, self._groups = fetched, [_Group(given=False, comes=False)]
        self._words: list[str] = []
        self._before = ""

    def run_in(self, line: Sequence[str]) -> str:
        for word in [*line, ";"]:
            ends = _BETWEEN.findall(word) if SHELL_END.fullmatch(word) else {"{": "(", "}": ")"}.get(word, "")
            if not ends:
                self._words.append(word)
            for end in ends:
                if run := self._end(end):
                    return run
        return ""

    def _end(self, end: str) -> str:
        """The command that ends here, if it runs what an address gives."""
        group, words = self._groups[-1], self._words
        run = (group.comes and _runs_its_input(words)) or _runs(words, self._fetched)
        fetches = any(map(_is_fetcher, words))
        group.inner |= fetches
        group.gives |= fetches
        before, self._words = self._before, []
        self._before = " ".join(words) or before
        if end in ("|", "|&"):
            group.comes, group.inner = group.comes or group.inner, False
        elif end == "(":
            self._groups.append(_Group(given=group.comes, comes=group.comes))
        elif end == ")" and len(self._groups) > 1:
            self._groups.pop()
            self._groups[-1].inner |= group.gives
            self._groups[-1].gives |= group.gives
        else:
            group.comes, group.inner = group.given, False
        return (f"{before} | {' '.join(words)}" if group.comes else " ".join(words))[:60] if run else ""


def _name(word: str) -> str:
    """Of a program, without its folder."""
    return re.sub(r"(?i)\.exe$", "", _base(word.lstrip("`$!%") or word))


def _is_fetcher(word: str) -> bool:
    return "://" not in word and _FETCHER.fullmatch(_name(word)) is not None


def _runs_its_input(words: Sequence[str]) -> bool:
    """An interpreter without a file and without code of its own: what it is given is data to it otherwise."""
    program, *args = list(_without_around(words)) or [""]
    name = _name(program)
    if not _RUNNER.fullmatch(name) or name in ("source", "."):
        return False
    is_shell = _SHELL.fullmatch(name) is not None
    at = next((at for at, word in enumerate(args) if not word.startswith("-") or word == "-"), len(args))
    plain, options = "".join(args[at : at + 1]), args[:at]
    if not is_shell and any(re.match(r"-[a-z]*[cm]", word) for word in options):
        return False
    reads = plain == "-" or (is_shell and any(re.fullmatch(r"-[A-Za-z]*s[A-Za-z]*", word) for word in options))
    return reads or not _OWN_FILE.fullmatch(plain)


def _runs(words: Sequence[str], fetched: set[str]) -> bool:
    """Whether a command runs one of the files; where it fetches some, they are put to them."""
    program, *args = list(_without_around(words)) or [""]
    if _is_fetcher(program):
        fetched.update({_base(name) for name in _kept_as(_name(program), args)} - {"", "-"})
    elif _RUNNER.fullmatch(_name(program)):
        given = next((word for word in args if not word.startswith("-")), "")
        return _base(given) in fetched and not {"-c", "-m"} & set(args[: args.index(given)])
    return "/" in program and _base(program) in fetched


def _without_around(words: Sequence[str]) -> Iterator[str]:
    """Without what only says how a command is run, and variables in front of it."""
    begun = False
    for at, word in enumerate(words):
        value = at > 0 and words[at - 1] in _AS_WHOM
        around = word in _AROUND or re.match(r"\w+=", word) or (not begun and (value or word.startswith("-")))
        begun = begun or not around
        if begun:
            yield word.lstrip("`$!%") or word


def _kept_as(program: str, words: Sequence[str]) -> Iterator[str]:
    """Names under which an answer may lie afterwards. curl keeps nothing by the name of the address without -O."""
    by_address = program.lower() != "curl" or any(re.match(r"-\w*O|--remote-name", word) for word in words)
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in _INTO or word == ">":
            yield after
        elif word.startswith((">", "--output=", "--output-document=", "--out=")):
            yield word.lstrip(">").rpartition("=")[2]
        elif re.match(r"-\w*[oO].|-\w+[oO]$", word) and not word.startswith("--"):
            yield after if word.endswith(("o", "O")) else re.split("[oO]", word, maxsplit=1)[1]
        if by_address and "://" in word:
            yield word.partition("?")[0].partition("#")[0]


def _base(path: str) -> str:
    return path.rpartition("/")[2]
