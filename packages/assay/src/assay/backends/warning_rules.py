"""How a backend's file says what the warnings of its library mean: a table of patterns, read line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from assay.core.native_warning import NativeWarning, WarningCode

Rule = tuple[WarningCode | None, re.Pattern[str]]
"""The code (None: it says nothing of the model, and is left out) and the words; group `node` names what it is about, `count` how many."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_INFORMATION = re.compile(r"[IDV](?:\d{4} [\d:.]+ +\d+)? \S+:\d+\] ")
"""How glog, and loggers like it, begin a line that is no warning."""


def rule(code: WarningCode | None, pattern: str) -> Rule:
    """Upper and lower case are the same."""
    return code, re.compile(pattern, re.IGNORECASE)


def plain_lines(text: str) -> list[str]:
    """Without colours and empty lines."""
    return [line.strip() for line in _COLOUR.sub("", text).splitlines() if line.strip()]


def classified(said: Iterable[str], rules: Sequence[Rule], *, others: bool = True) -> tuple[NativeWarning, ...]:
    """Of each warning what the first rule makes of it that fits; what none fits is `other`, or left out."""
    found = []
    for words in said:
        hit = next(((code, match) for code, pattern in rules if (match := pattern.search(words))), None)
        if hit is None:
            found += [NativeWarning(WarningCode.OTHER, text=words)] if others else []
        elif hit[0] is not None:
            named = hit[1].groupdict()
            count = named.get("count") or "1"
            found.append(NativeWarning(hit[0], named.get("node") or "", words, int(count)))
    return tuple(found)


def reader(
    warning: str, rules: Sequence[Rule], *, python_warnings: bool = False
) -> Callable[[str], tuple[NativeWarning, ...]]:
    """A function from what was printed to warnings. `warning` matches a line that is one, with its words as group `words`. With
    `python_warnings` a line by itself may be what Python's `warnings` gave, which has no mark: it is one where a rule knows it."""
    line = re.compile(warning)

    def read(text: str) -> tuple[NativeWarning, ...]:
        lines = plain_lines(text)
        marked = [found["words"] for one in lines if (found := line.match(one))]
        if python_warnings and not marked and len(lines) == 1 and not _INFORMATION.match(lines[0]):
            return classified(lines, rules, others=False)
        return classified(marked, rules)

    return read
