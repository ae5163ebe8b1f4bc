"""Commands that install packages, in the words of any page: where nothing says what is code and what is speech."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay_zoo.artifacts.installs.fetched_commands import runs_from_addresses
from assay_zoo.artifacts.installs.install_commands import installed_by
from assay_zoo.artifacts.installs.requirements_file import RUNS_ADDRESS, requirement_problems
from assay_zoo.artifacts.pages.lines_with import lines_with

_MENTION = re.compile(
    r"\b(?:pip[\d.]*|pipx|pipenv|uv|poetry|pdm|pixi|conda|mamba|micromamba)\b[^\n|;&]*?\s(?:install|add|download|inject)\s+\S"
    r"|\b(?:uvx|npx|pnpx|bunx|easy_install|(?:docker|podman|nerdctl) (?:run|pull))\s+\S",
    re.IGNORECASE,
)
_WORDS = ("install", "add", "download", "inject", "uvx", "npx", "bunx", "docker ", "podman ", "nerdctl ")
"""One of them stands in each mention."""
_FETCHING = ("curl", "wget", "iwr", "irm", "invoke-", "aria2c")
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
    if next(lines_with(text, _FETCHING), None):
        yield from ((line, f"{RUNS_ADDRESS} ({words!r})", False) for line, words in runs_from_addresses(text, set()))
    for number, line in lines_with(text, _WORDS):
        if mention := _MENTION.search(line):
            is_code = plain and _SHOWN_AS_CODE.match(line) is not None
            for asked in installed_by(line if is_code else line[mention.start() :]):
                yield from ((number, problem, is_code) for problem in _problems(asked, packages, every=is_code))


def without_tags(page: str) -> str:
    return _TAG.sub(" ", _WITHIN_WORDS.sub("", page))


def _problems(asked: Sequence[str], packages: Sequence[str], *, every: bool) -> Iterator[str]:
    for at, word in enumerate(asked):
        plain = word.strip("`'\"").rstrip(".,:;!?)`'\"")
        problems = [problem for _, problem in requirement_problems(plain, packages)] if plain else []
        if problems and not every and at and not any("nearly" in problem for problem in problems):
            return
        yield from problems
