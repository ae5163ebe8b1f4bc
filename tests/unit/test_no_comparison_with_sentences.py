"""No source decides by a text that a person reads: values have codes, and words are made of codes (`judge/words/finding_text.py`).

What a machine can see of it: a comparison, or a search, with a literal of several words; and one of something that is called as sentences
are (`detail`, `reason`, `warning` ...). The text of a third party's error is all that it gives: `backends/` and `transforms/`
may read that, and so may `models/`, which opens what others wrote.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "packages"
SENTENCES = {"detail", "message", "note", "observed_detail", "reason", "remark", "sentence", "warning", "why"}
SEARCHES = {
    "count", "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "startswith",
}  # fmt: skip
PATTERNS = {"findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
"""Of `re`, or of a pattern: what they are given is read."""
OF_OTHERS = (
    "backends/", "transforms/", "models/", "onnx_to_torch/", "environments/", "pipeline/provenance.py", "robot/sources/",
    "robot/mirror.py", "robot/webhook_payloads.py",
)  # fmt: skip
"""What a third party says: a library, git, a forge, the kernel."""
BY_DESIGN = {
    "testing/act_checks.py": "it checks what is said",
    "waivers.py": "a waiver of zoo.toml quotes the sentence that it waives",
    "launch/ray/not_sent.py": "which file was looked for stands in the words of Python or a library alone",
    "triage/upgrade_text.py": "the way of an upgrade is a code of several words: go with options",
    "accuracy/execution.py": "an exception of a notebook in Python's own words: a module that it lacks, a model that the runtime refused",
    "functionality/check_functionality.py": "the sentence of a data set begins with its file",
}
"""Files that read a sentence all the same."""
SEVERAL_WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? [A-Za-z]{2,}")
LAYOUT = {"\n", "\r", "\t", " ", ". ", ".", ""}
"""What may be looked for in a sentence without reading it: how it is laid out, and whether there is one."""


def decided_by_words(source: str) -> Iterator[int]:
    """The lines where a text that a person reads is compared, or searched."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                if isinstance(operator, ast.Eq | ast.NotEq):
                    asked = _is_sentence(left) or _is_sentence(right)
                    known = {*_texts(left), *_texts(right)}
                elif isinstance(operator, ast.In | ast.NotIn):
                    asked = _is_sentence(right) or (isinstance(right, ast.Constant) and _is_sentence(left))
                    known = set(_texts(left))
                else:
                    continue
            case ast.Call(func=ast.Attribute(value=subject, attr=search), args=[first, *_]) if search in SEARCHES:
                asked, known = _is_sentence(subject), set(_texts(first))
            case ast.Call(func=ast.Attribute(attr=search), args=[*_, _] as given) if search in PATTERNS:
                asked, known = any(map(_is_sentence, given)), set()
            case ast.Match(subject=subject, cases=cases):
                values = [
                    pattern_node.value
                    for case in cases
                    for pattern_node in ast.walk(case.pattern)
                    if isinstance(pattern_node, ast.MatchValue)
                ]
                asked, known = _is_sentence(subject), {text for value in values for text in _texts(value)}
            case ast.Subscript(value=ast.Dict(), slice=place):
                asked, known = _is_sentence(place), set()
            case _:
                continue
        if (asked and not (known and known <= LAYOUT)) or any(map(SEVERAL_WORDS.search, known)):
            yield node.lineno


def _texts(node: ast.expr) -> list[str]:
    """The literals that it is compared with."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.Set | ast.List) else [node]
    if isinstance(node, ast.JoinedStr):
        parts = node.values
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _is_sentence(node: ast.expr) -> bool:
    """Called as sentences are."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.strip("_") in SENTENCES


@pytest.mark.parametrize(
    "line",
    [
        'one.reason.startswith("its shape depends on rounding")',
        'one.reason.partition("; to decide it")[0]',
        "lock.reason.removeprefix(REFERENCE)",
        'text.startswith("its shape depends")',
        "finding.detail == other.detail",
        '"out of memory" in text',
        "result.node not in result.detail",
        '"memory" in result.detail',
        're.search(r"memory|disk", result.detail)',
        "_FULL.match(one.reason)",
        'match result.detail:\n    case "no room": pass',
        'match text:\n    case "out of memory": pass',
        '{"no room": 1}[one.reason]',
    ],
)
def test_it_is_found(line: str) -> None:
    assert list(decided_by_words(line)) == [1]


@pytest.mark.parametrize(
    "line",
    [
        'match result.detail:\n    case "": pass',
        'result.detail == ""',
        'detail.partition("\\n")',
        'name.startswith("budget_")',
        "code in CODES",
        'reason != ""',
    ],
)
def test_what_reads_no_words_is_right(line: str) -> None:
    assert not list(decided_by_words(line))


@pytest.mark.heavy
def test_no_source_decides_by_the_words_of_a_sentence() -> None:
    sources = sorted(PACKAGES.glob("*/src/**/*.py"))
    assert len(sources) > 500
    inside = {str(path.relative_to(PACKAGES)).partition("/src/")[2].partition("/")[2]: path for path in sources}
    by_name = {
        name: lines
        for name, path in inside.items()
        if not name.startswith(OF_OTHERS) and (lines := list(decided_by_words(path.read_text(encoding="utf-8"))))
    }
    assert BY_DESIGN.keys() <= by_name.keys(), "what does so no more is taken off the list"
    new = [f"{name}:{line}" for name, lines in by_name.items() if name not in BY_DESIGN for line in lines]
    assert not new, f"record a code, and make the words of it: {new}"
