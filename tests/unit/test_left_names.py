"""Words that were replaced do not come back: no file and no top-level name of `src` is called by one of them."""

from __future__ import annotations

import ast
from pathlib import Path

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


def test_no_file_is_called_by_a_word_that_was_replaced() -> None:
    assert not sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if path.stem in FILES)


def test_no_top_level_name_is_a_word_that_was_replaced() -> None:
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    found = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path in SOURCE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, kinds) and node.name in NAMES
    ]
    assert not found


def test_no_parameter_attribute_or_local_is_a_word_that_was_replaced() -> None:
    found = set()
    for path in SOURCE.glob("*/src/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [getattr(node, field, None) for field in ("id", "arg", "attr")]
            found |= {str(path.relative_to(SOURCE)) for name in names if name in VARIABLES}
    assert not sorted(found)


def test_no_test_is_called_by_a_word_that_was_replaced() -> None:
    tests = Path(__file__).parents[1]
    left = ("test_faces_", "told", "test_own_figure")
    assert not sorted(path.name for path in tests.rglob("*.py") if path.stem.startswith(left))
