"""How a backend's file says what the warnings of its library mean: a table of patterns, read line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from assay.core.native_warning import NativeWarning, WarningCode

Rule = tuple[WarningCode | None, re.Pattern[str]]
"""The code (None: it says nothing of the model) and the words; group `node` names what it is about, `count` how many."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_GIVEN = r"(?:WARNING|ERROR|CRITICAL):[^:]*:|\S.*?:\d+: \w*Warning: "
"""How Python prints what it was given by `logging` and by `warnings`."""


def rule(code: WarningCode | None, pattern: str) -> Rule:
    """Upper and lower case are the same."""
    return code, re.compile(pattern, re.IGNORECASE)


def plain_lines(text: str) -> list[str]:
    """Without colours and empty lines."""
    return [line.strip() for line in _COLOUR.sub("", text).splitlines() if line.strip()]


def classified(texts: Iterable[str], rules: Sequence[Rule]) -> tuple[NativeWarning, ...]:
    """Of each warning what the first rule makes of it that fits; what none fits is `other`. One that says nothing of the model has a
    `count` of 0."""
    warnings = []
    for words in texts:
        hit = next(((code, match) for code, pattern in rules if (match := pattern.search(words))), None)
        if hit is None:
            warnings.append(NativeWarning(WarningCode.OTHER, text=words))
        elif hit[0] is None:
            warnings.append(NativeWarning(WarningCode.OTHER, text=words, count=0))
        else:
            named = hit[1].groupdict()
            count = named.get("count") or "1"
            warnings.append(NativeWarning(hit[0], named.get("node") or "", words, int(count)))
    return tuple(warnings)


def reader(mark: str, rules: Sequence[Rule]) -> Callable[[str], tuple[NativeWarning, ...]]:
    """A function from what was printed to warnings: lines that begin with the library's own `mark`, or with one of Python's."""
    line = re.compile(rf"(?:{mark}|{_GIVEN}) *(?P<words>.+)")

    def read(text: str) -> tuple[NativeWarning, ...]:
        return classified(
            [match["words"] for text_line in plain_lines(text) if (match := line.match(text_line))], rules
        )

    return read
