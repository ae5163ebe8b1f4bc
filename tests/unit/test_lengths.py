"""A function fits a screen, and a file has one idea: at most 50 and 300 lines, in all rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("packages", "benchmarks", "tests", "tools", "examples")
FUNCTION_LINES = 50
FILE_LINES = 300
LONGER = {
    "benchmarks/dashboard.py",
    "benchmarks/mutants_ties.py",
    "benchmarks/planted_rewrites.py",
    "packages/assay/src/assay/config/assay_toml.py",
    "packages/assay/src/assay/core/job.py",
    "packages/assay/src/assay/core/result.py",
    "packages/assay/src/assay/launch/supervisor.py",
    "packages/assay/src/assay/pipeline/shared_files.py",
    "packages/assay/src/assay/reports/html_detail.py",
    "packages/assay/src/assay/worker/process_state.py",
    "tests/end_to_end/test_cli_bad_input.py",
    "tests/end_to_end/test_per_node.py",
    "tests/end_to_end/test_reuse.py",
    "tests/end_to_end/test_transforms.py",
    "tests/end_to_end/test_zoo_promote.py",
    "tests/oracle_table/recipes/moving.py",
    "tests/ports/backends/test_backends_iree.py",
    "tests/robot/test_robot_github.py",
    "tests/robot/test_robot_mirror.py",
    "tests/robot/test_robot_service.py",
    "tests/unit/assay_zoo/test_zoo_published.py",
    "tests/unit/judge/test_judge_run.py",
    "tests/unit/models/own_data/test_own_data_read.py",
    "tests/unit/models/test_models_input_plan.py",
    "tests/unit/models/test_named_sources.py",
    "tests/unit/numerics/oracle/contrib_cases.py",
    "tests/unit/web/test_web_oidc.py",
    "tests/unit/web/test_web_pages.py",
}
"""Files that are longer still. No file is added: a new one is split by its ideas."""


def sources() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if ".venv" not in path.parts]


def long_functions(source: str) -> Iterator[str]:
    """Name and lines of each that is too long."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{node.name} ({lines} lines)"


def test_a_long_function_is_found() -> None:
    body = "    pass\n" * FUNCTION_LINES
    assert list(long_functions(f"async def f():\n{body}")) == ["f (51 lines)"]
    assert not list(long_functions(f"def f():\n{body[:-9]}"))


def test_every_function_fits_a_screen() -> None:
    paths = sources()
    assert len(paths) > 1000
    found = [
        f"{path.relative_to(ROOT)}: {one}" for path in paths for one in long_functions(path.read_text(encoding="utf-8"))
    ]
    assert not found, f"find the second idea in it, and its name: {found}"


def test_no_further_file_is_long() -> None:
    longer = {
        str(path.relative_to(ROOT))
        for path in sources()
        if len(path.read_text(encoding="utf-8").splitlines()) > FILE_LINES
    }
    assert not longer - LONGER, f"split along its ideas: {sorted(longer - LONGER)}"
    assert not LONGER - longer, f"short enough now, take it off the list: {sorted(LONGER - longer)}"
