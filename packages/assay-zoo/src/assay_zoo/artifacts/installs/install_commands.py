"""Commands of a shell that install packages, and what they ask for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

NAMES = re.compile(r"^(requirements|constraints)[^/]*\.(txt|in)$", re.IGNORECASE)
"""Of lists of requirements."""
_INSTALLER = re.compile(
    r"(?:pip[\d.]*|pipx|pipenv|uv|poetry|pdm|pixi|rye|conda|mamba|micromamba)(?:\.exe)?", re.IGNORECASE
)
_WITHOUT_VERB = re.compile(r"(?:easy_install[-\d.]*|uvx|npx|pnpx|bunx)(?:\.exe)?", re.IGNORECASE)
_FROM_ELSEWHERE = re.compile(
    r"(?:PIP|UV|CONDA|NPM_CONFIG)_\w*(?:INDEX|URL|LINKS|HOST|CHANNEL|REGISTRY|CONFIG)\w*=.", re.IGNORECASE
)
"""A variable in front of a command that chooses a place from which packages are taken."""
_CONTAINER = re.compile(r"(?:docker|podman|nerdctl)(?:\.exe)?", re.IGNORECASE)
_OF_CONDA = re.compile(r".*(?:conda|mamba|pixi)(?:\.exe)?", re.IGNORECASE)
_VERBS = ("install", "add", "download", "wheel", "inject", "create")
_BELOW = ("pip", "tool", "global", "self")
"""Words between an installer and its verb."""
_END = re.compile(r"[;&|()]+")
"""What stands between commands."""
_BEFORE_COMMENT = re.compile(r"""(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^'"\\#]|(?<=[^\s;&|()])#)*""")
_IDLE = re.compile(
    r"-[qvyUIS]+|--(?:upgrade|quiet|verbose|yes|user|pre|no-cache(?:-dir)?|no-input|no-deps|prefer-binary|force-reinstall|ignore-installed"
    r"|disable-pip-version-check|break-system-packages|no-build-isolation|no-compile|no-warn-script-location|no-warn-conflicts"
    r"|require-hashes|dev|system|override-channels|strict-channel-priority|update-deps|freeze-installed)"
)
"""Options that choose no package and no place from which one is taken."""
_IDLE_VALUE = (
    "-n", "--name", "-d", "--dest", "-w", "--wheel-dir", "-t", "--target", "-p", "--prefix", "--python", "--timeout", "--default-timeout",
    "--retries", "--progress-bar", "--only-binary", "--no-binary", "--upgrade-strategy", "--group", "-G",
)  # fmt: skip
_CHANNELS = ("conda-forge", "defaults", "nodefaults")
_LISTED = ("-r", "--requirement", "--requirements", "-c", "--constraint", "--constraints")
_ON_CONDA = {
    "opencv": "opencv-python",
    "py-opencv": "opencv-python",
    "pytorch": "torch",
    "matplotlib-base": "matplotlib",
}
"""Names of packages there that are others on PyPI."""


def installed_by(code: str) -> Iterator[list[str]]:
    """Of each command that installs something: the requirements and the options that are not idle, one each."""
    for words in shell_commands(code):
        for at, word in enumerate(words):
            if re.search(r"\s", word):
                yield from installed_by(word)  # sh -c "..."
            if (rest := _after_the_verb(word, words[at + 1 :])) is not None:
                chosen = [before for before in words[:at] if _FROM_ELSEWHERE.match(before)]
                yield [*chosen, *_asked(rest, conda=_OF_CONDA.fullmatch(_program(word)) is not None)]
                break
            if _CONTAINER.fullmatch(_program(word)) and {"run", "pull"} & set(words[at + 1 :]):
                yield [
                    next(
                        (each for each in words[at + 2 :] if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+(?::[\w.-]+)?", each)),
                        words[-1],
                    )
                ]
                break


def shell_commands(code: str) -> Iterator[list[str]]:
    """The words of each command, in their order. A line that ends in a backslash or in | goes on with the next."""
    for line in re.sub(r"\\[ \t]*\n|(?<=\|)[ \t]*(?:#[^\n]*)?\n", " ", code).splitlines():
        command: list[str] = []
        for word in [*_words(line), ";"]:
            if not _END.fullmatch(word):
                command.append(word)
            else:
                yield command
                command = []


def needs_a_look(line: str) -> list[str]:
    """Of a line of options in a list of requirements: those that choose a package, or a place from which one is taken."""
    try:
        words = shlex.split(line)
    except ValueError:
        return [line]
    return list(_asked(words, conda=False))


def asked_of_conda(words: Sequence[str]) -> list[str]:
    """What packages and channels of its own list ask for."""
    return list(_asked(words, conda=True))


def without_comment(line: str) -> str:
    before = _BEFORE_COMMENT.match(line)
    return line[: before.end()] if before and line.startswith("#", before.end()) else line


def _words(line: str) -> list[str]:
    line = without_comment(line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote that does not end
        return [word.strip("'\"") for word in _END.sub(lambda end: f" {end[0]} ", line).split()]


def _program(word: str) -> str:
    return word.lstrip("`!%$>").rpartition("/")[2]


def _after_the_verb(word: str, words: Sequence[str]) -> list[str] | None:
    """What an installer is told, options before its verb too; None where the word is none or nothing is installed."""
    if _WITHOUT_VERB.fullmatch(_program(word)):
        return list(words)
    if not _INSTALLER.fullmatch(_program(word)):
        return None
    before: list[str] = []
    for at, argument in enumerate(words):
        if argument in _VERBS or (argument == "run" and _program(word) == "pipx"):
            return [*before, *words[at + 1 :]]
        value = bool(before) and before[-1].startswith("-")
        if not (argument.startswith("-") or value or argument in _BELOW):
            return None
        if argument.startswith("-") or value:
            before.append(argument)
    return None


def _asked(words: Sequence[str], *, conda: bool) -> Iterator[str]:
    left = iter(words)
    for word in left:
        if not word.startswith("-"):
            yield from _of_conda(word) if conda else (word.strip("`"),)
            continue
        name, given, value = word.partition("=")
        if name[:2] in ("-r", "-c", "-n") and len(name) > 2:
            name, given, value = word[:2], "=", word[2:]
        if _IDLE.fullmatch(word):
            continue
        if not given and name in (*_IDLE_VALUE, *_LISTED, "--channel"):
            value = next(left, "")
        channel = conda and name in ("-c", "--channel") and value in _CHANNELS
        if name not in _IDLE_VALUE and not channel and not (name in _LISTED and _looked_into(value)):
            yield f"{name} {value}".strip() if name in _LISTED else word


def _of_conda(word: str) -> Iterator[str]:
    """As on PyPI: it writes one = for a version, and a channel in front."""
    channel, _, rest = word.rpartition("::")
    word = rest if channel in _CHANNELS else word
    name, version = re.fullmatch(r"([\w.-]*)(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]
    if name != "python":
        yield _ON_CONDA.get(name, name) + re.sub(r"^=(?!=)", "==", version)


def _looked_into(path: str) -> bool:
    """Whether it is a list beside the readme, which is read as one."""
    *folders, name = path.removeprefix("./").split("/")
    return NAMES.match(name) is not None and all(re.fullmatch(r"[\w-][\w.-]*", folder) for folder in folders)
