"""Commands of a shell that run what an address gives: at once, or by the name under which they keep it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay_zoo.artifacts.install_commands import shell_pipelines

_INSIDE = re.compile(
    r"\b(?:(?:ba|z|da|k)?sh|python[\d.]*|eval|source)\s+(?:-c\s+)?[\"']?(?:[<$]\(|`)\s*(?:curl|wget)\b", re.IGNORECASE
)
_FETCHER = re.compile(r"curl|wget|aria2c|iwr|irm|Invoke-WebRequest", re.IGNORECASE)
_INTO = ("-o", "--output", "-O", "--output-document", "-OutFile", "--out")
_SHELL = re.compile(r"(?:ba|z|da|k)?sh|iex", re.IGNORECASE)
_RUNNER = re.compile(r"(?:ba|z|da|k)?sh|iex|python[\d.]*|perl|ruby|node|source|\.", re.IGNORECASE)
_OWN_FILE = re.compile(r"[\w-]+[./]\w.*|\./.*")
_AROUND = ("sudo", "env", "time", "nohup", "exec", "then", "do", "$", "!", "%")


def run_from_address(code: str, fetched: set[str]) -> str:
    """The words that run what an address gives, "" for none. `fetched` are names of files that come from one: more are put to them."""
    if inside := _INSIDE.search(code):
        return inside[0][:60]
    for pipeline in shell_pipelines(code):
        comes = False
        for words in pipeline:
            if comes and _runs_its_input(words):
                return " | ".join(" ".join(each) for each in pipeline)[:60]
            comes = comes or any(_FETCHER.fullmatch(word.lstrip("`$!%")) for word in words)
            if _runs(words, fetched):
                return " ".join(words)[:60]
    return ""


def _runs_its_input(words: Sequence[str]) -> bool:
    """An interpreter that is told no file and no code: what it is given is data to it then."""
    program, *args = list(_without_around(words)) or [""]
    name = program.rpartition("/")[2]
    if not _RUNNER.fullmatch(name) or name in ("source", "."):
        return False
    plain = next((word for word in args if not word.startswith("-")), "")
    has_code = any(re.fullmatch(r"-[a-z]*[cm]", word) for word in args)
    return not _OWN_FILE.fullmatch(plain) and (_SHELL.fullmatch(name) is not None or not has_code)


def _runs(words: Sequence[str], fetched: set[str]) -> bool:
    """Whether a command runs one of the files; where it fetches some, they are put to them."""
    program, *args = list(_without_around(words)) or [""]
    if _FETCHER.fullmatch(program):
        fetched.update(_base(name) for name in _kept_as(args) if name not in ("", "-"))
    elif _RUNNER.fullmatch(_base(program)):
        given = next((word for word in args if not word.startswith("-")), "")
        return _base(given) in fetched and not {"-c", "-m"} & set(args[: args.index(given)])
    return "/" in program and _base(program) in fetched


def _without_around(words: Sequence[str]) -> Iterator[str]:
    """Without what only says how a command is run, and variables in front of it."""
    begun = False
    for word in words:
        around = word in _AROUND or re.match(r"\w+=", word) or (not begun and word.startswith("-"))
        begun = begun or not around
        if begun:
            yield word.lstrip("`$!%") or word


def _kept_as(words: Sequence[str]) -> Iterator[str]:
    """Names under which an answer may lie afterwards."""
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in _INTO or word == ">":
            yield after
        elif word.startswith((">", "--output=", "--output-document=", "--out=")):
            yield word.lstrip(">").rpartition("=")[2]
        elif re.match(r"-\w*[oO].|-\w+[oO]$", word) and not word.startswith("--"):
            yield after if word.endswith(("o", "O")) else re.split("[oO]", word, maxsplit=1)[1]
        if "://" in word:
            yield word.partition("?")[0].partition("#")[0]


def _base(path: str) -> str:
    return path.rpartition("/")[2]
