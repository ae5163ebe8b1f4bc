"""Commands that install packages, in the words of any page: where nothing says what is code and what is speech."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from assay_zoo.artifacts.fetched_commands import run_from_address
from assay_zoo.artifacts.install_commands import installed_by
from assay_zoo.artifacts.lines_with import lines_with
from assay_zoo.artifacts.requirements_file import RUNS_ADDRESS, requirement_problems

_MENTION = re.compile(
    r"\b(?:pip[\d.]*|pipx|pipenv|uv|poetry|pdm|pixi|conda|mamba|micromamba)\b[^\n|;&]*?\s(?:install|add|download|inject)\s+\S"
    r"|\b(?:uvx|npx|pnpx|bunx|easy_install|(?:docker|podman|nerdctl) (?:run|pull))\s+\S",
    re.IGNORECASE,
)
_WORDS = ("install", "add", "download", "inject", "uvx", "npx", "bunx", "docker ", "podman ", "nerdctl ")
"""One of them stands in each mention."""
_FETCHING = ("curl", "wget", "iwr", "irm", "invoke-", "aria2c")
_FETCHES = re.compile(r"\b(?:curl|wget|iwr|irm|aria2c)\b|\binvoke-", re.IGNORECASE)
_LONGEST_BLOCK = 20
"""Lines: a list of words, or a table, has no empty ones."""
_SHOWN_AS_CODE = re.compile(
    r"(?:    |\t|\s*[$%!>]\s*)(?:sudo\s+)?(?:\S*python\S*\s+-m\s+)?(?:pip|conda|mamba|uv|pipx|poetry)\S*\s"
)
_TAG = re.compile(r"<[^>]*>")
_WITHIN_WORDS = re.compile(
    r"</?(?:a|b|i|u|s|em|strong|span|font|small|big|mark|wbr|sub|sup)(?:\s[^<>]*)?/?>", re.IGNORECASE
)


def asked_in_page(text: str, packages: Sequence[str], *, plain: bool = True) -> Iterator[tuple[int, str, bool]]:
    """(line, what is wrong, whether that is certain), as `requirement_problems`. A line that is set off, or has a prompt, is a command for
    sure in a `plain` text, and all its words count. In the middle of a sentence the words behind the first are its own."""
    for number, words in _run_from_addresses(text):
        yield number, f"{RUNS_ADDRESS} ({words!r})", False
    for number, line in lines_with(text, _WORDS):
        if mention := _MENTION.search(line):
            is_code = plain and _SHOWN_AS_CODE.match(line) is not None
            for asked in installed_by(line if is_code else line[mention.start() :]):
                yield from ((number, problem, is_code) for problem in _problems(asked, packages, every=is_code))


def _run_from_addresses(text: str) -> Iterator[tuple[int, str]]:
    """(line, words). Lines from one that fetches to the next empty one are read as one: a command goes on in the next line, or runs
    what the first keeps. What is kept may be run further down, too."""
    lines, fetched, last = text.splitlines(), set[str](), 0
    known: set[int] = set()
    for number, line in lines_with(text, _FETCHING):
        if number > last and _FETCHES.search(line):
            block = list(takewhile(str.strip, islice(lines, number - 1, number - 1 + _LONGEST_BLOCK)))
            last = number + len(block) - 1
            known.update(range(number, last + 1))
            if words := run_from_address("\n".join(map(_without_last_bar, block)), fetched):
                yield number, words
    for number, line in lines_with(text, [name.lower() for name in sorted(fetched) if name]):
        if number not in known and not line.lstrip().startswith("/") and (words := run_from_address(line, fetched)):
            yield number, words


def _without_last_bar(line: str) -> str:
    """A row of a table goes on nowhere."""
    row = line.strip()
    return row.removesuffix("|") if row.startswith("|") else line


def without_tags(page: str) -> str:
    return _TAG.sub(" ", _WITHIN_WORDS.sub("", page))


def _problems(asked: Sequence[str], packages: Sequence[str], *, every: bool) -> Iterator[str]:
    for at, word in enumerate(asked):
        plain = word.strip("`'\"").rstrip(".,:;!?)`'\"")
        problems = [problem for _, problem in requirement_problems(plain, packages)] if plain else []
        if problems and not every and at and not any("nearly" in problem for problem in problems):
            return
        yield from problems
