"""Words that were replaced do not come back: no file and no top-level name of `src` is called by one of them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "packages"

FILES = {
    "yardsticks", "unmoved", "obtained", "fight", "waits", "on_device", "house", "apart", "endless", "ratchet", "bless", "kill_rate",
    "kill_rates", "ahead", "waiting", "blame", "gridded", "tipping", "former",
    "drawn", "unheard", "trouble", "rivalry", "burdens",
    "holding", "hints", "looking", "delivering", "misuse", "suite_promises",
    "blank", "bodies", "build_figures", "duel", "duels", "turns", "examination", "executorch_quick", "torch_quick", "torch_wide", "fed",
    "feeds", "feeding", "figures", "figures_text", "fills", "forms", "found", "growth", "importing", "inspecting", "joint", "judged",
    "judging", "jumps", "late", "launches", "limited", "limited_child", "makers", "making", "measured", "folder_make", "mined_make",
    "onnx_node_make", "torch_make", "opened", "opinion", "reach", "spelling", "student", "unread", "words", "wrong",
}  # fmt: skip
NAMES = {
    "Rival", "Duel", "Turns", "Misuse", "Held", "House", "OtherFailed", "Watched", "Opinion", "Complaint", "Bent", "Lean", "Tips",
    "Judged",
    "Judging", "Unlike", "Refusal", "Burden", "Desk", "Puzzled", "Ran", "Workshop", "Looking", "Delivering", "Applied", "BuildFacts",
    "fight", "unmoved", "provoke", "hold", "hold_body", "blank_result", "carry_out", "bless", "surely_above", "settled", "alike",
    "most_telling",
    "gravest", "respell", "untaken", "surroundings", "lent", "laid", "nonsense", "told", "_told",
}  # fmt: skip


VARIABLES = {"house", "_house", "duel", "fight", "yardstick", "yardsticks", "kill_rates", "ratchet", "misuses"}
"""Of parameters, attributes and locals."""
LOCALS = {"told"}
"""Of parameters and locals: they say nothing of what they hold."""


def test_no_file_is_called_by_a_word_that_was_replaced() -> None:
    assert not sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if path.stem in FILES)


def _top_level(source: str) -> list[str]:
    """Those names of classes and functions that were replaced. A source without one is not parsed, which takes most of the time."""
    if not re.search(rf"^(class|def|async def) ({'|'.join(NAMES)})\b", source, re.MULTILINE):
        return []
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [node.name for node in ast.parse(source).body if isinstance(node, kinds) and node.name in NAMES]


def _variables(source: str) -> set[str]:
    """Those of parameters, attributes and locals."""
    if not re.search(rf"\b({'|'.join(VARIABLES | LOCALS)})\b", source):
        return set()
    nodes = list(ast.walk(ast.parse(source)))
    classes = (node for node in nodes if isinstance(node, ast.ClassDef))
    fields = {id(part.target) for node in classes for part in node.body if isinstance(part, ast.AnnAssign)}
    return {
        name for node in nodes for field in ("id", "arg", "attr") if (name := getattr(node, field, "")) in VARIABLES
    } | {
        name
        for node in nodes
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        if (name := getattr(node, "id", "") or getattr(node, "arg", "")) in LOCALS and id(node) not in fields
    }


def test_no_top_level_name_is_a_word_that_was_replaced() -> None:
    lines = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in SOURCE.rglob("*.py")
        for name in _top_level(path.read_text(encoding="utf-8"))
    ]
    assert not lines


def test_no_parameter_attribute_or_local_is_a_word_that_was_replaced() -> None:
    lines = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in SOURCE.glob("*/src/**/*.py")
        for name in _variables(path.read_text(encoding="utf-8"))
    ]
    assert not lines


SPARING = {"asked": 85, "found": 12, "given": 80, "one": 10, "seen": 85, "wanted": 40}
"""How often all of `src` may bind a parameter or local of this name: nearly everywhere the noun says more."""


def _sparing(source: str) -> Counter[str]:
    """How often each of these is bound."""
    if not re.search(rf"\b({'|'.join(SPARING)})\b", source):
        return Counter()
    bound = (
        getattr(node, "id", "") or getattr(node, "arg", "") or ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    )
    return Counter(name for name in bound if name in SPARING)


@pytest.mark.heavy  # it parses most files of src
def test_names_that_say_little_stay_rare() -> None:
    counts = Counter[str]()
    for path in SOURCE.glob("*/src/**/*.py"):
        counts += _sparing(path.read_text(encoding="utf-8"))
    assert not {name: count for name, count in counts.items() if count > SPARING[name]}
    assert sum(counts.values()) > 200


def test_such_a_binding_is_counted() -> None:
    assert _sparing("def f(asked, *, given):\n    seen = [given for wanted in asked]") == Counter(
        asked=1, given=1, seen=1, wanted=1
    )


def test_such_a_name_is_found() -> None:
    assert _top_level("class House:\n    pass\n\n\nasync def fight() -> None: ...") == ["House", "fight"]
    assert _variables("def f(house, x):\n    x.duel = yardstick = 1") == {"house", "duel", "yardstick"}
    assert _variables("def f(told): ...") == _variables("def f():\n    told = 1") == {"told"}
    assert not _variables("class Alert:\n    told: int\n\ndef f(one):\n    return one.told")
    assert not _top_level('"""A House."""')
    assert not _variables('"""In the house."""')


def test_no_test_is_called_by_a_word_that_was_replaced() -> None:
    tests = Path(__file__).parents[1]
    left = ("test_faces_", "told", "test_own_figure")
    assert not sorted(path.name for path in tests.rglob("*.py") if path.stem.startswith(left))


DOCS = Path(__file__).parents[2] / "docs"
IN_SENTENCES = re.compile(r"\b(told|mend(s|ed)?|fights?|duels?|yardsticks?|bless(ed|es)?|unheard)\b", re.IGNORECASE)
"""No manual says so: reported, fixed, compared, approved."""


def test_no_page_of_the_documentation_uses_a_word_that_was_replaced() -> None:
    root = DOCS.parent
    pages = [*DOCS.rglob("*.md"), root / "README.md", root / "CHANGELOG.md"]
    assert len(pages) > 50
    lines = [
        f"{page.relative_to(root)}:{number}: {word[0]}"
        for page in pages
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if (word := IN_SENTENCES.search(line))
    ]
    assert not lines


def _said(source: str) -> Iterator[str]:
    """The texts of a source in which such a word stands, but for docstrings, which a user does not see: a help text is one, and is
    asked for by itself."""
    if not IN_SENTENCES.search(source):
        return
    tree = ast.parse(source)
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in silent
            and " " in node.value
        ):
            yield node.value


def test_no_text_that_a_user_reads_uses_a_word_that_was_replaced() -> None:
    lines = [
        f"{path.relative_to(SOURCE)}: {text}"
        for path in SOURCE.glob("*/src/**/*.py")
        for text in _said(path.read_text(encoding="utf-8"))
        if IN_SENTENCES.search(text) and "import " not in text
    ]
    assert not lines


@pytest.mark.parametrize("text", ["It is told once.", "Mended since.", "two engines fight"])
def test_such_a_word_is_found(text: str) -> None:
    assert IN_SENTENCES.search(text)
    assert list(_said(f'"""The module is told."""\nsay("{text}")')) == [text]


NOWHERE = re.compile(r"(?<![a-z])(duels?|fights?|fought|yardsticks?|unmoved)(?![a-z])", re.IGNORECASE)
"""In no name, docstring or comment either, of tests and benchmarks as well."""


def test_no_source_uses_a_word_of_nobodys_field() -> None:
    root = SOURCE.parent
    paths = [
        path
        for room in ("packages", "tests", "benchmarks", "examples", "tools")
        for path in (root / room).rglob("*.py")
    ]
    lines = [
        f"{path.relative_to(root)}: {word[0]}"
        for path in paths
        if path != Path(__file__) and ".venv" not in path.parts
        for word in NOWHERE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not lines
