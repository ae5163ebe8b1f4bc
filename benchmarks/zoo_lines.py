"""Lines of code of `assay-zoo` by what they are for, and of its tests: `python benchmarks/zoo_lines.py [COMMIT]`.

A line counts where code stands on it: no blank line, no comment and no docstring. Lines of templates count where they are not blank.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
SOURCE = "packages/assay-zoo/src/assay_zoo/"
CONCERNS = {
    "files of a stranger: taken in, opened within limits": "intake.py files/* limited_process*",
    "owners, names, versions, copies": "conflicts.py artifacts/identity.py",
    "what is published: scripts, notebooks, readme, licence, links": "artifacts/*",
    "the model: specification and bounds": "compliance/*",
    "its answers on every runtime": "functionality* fresh_inputs.py golden_sets.py value_dependent.py",
    "its accuracy: notebooks in the sandbox, computed again": (
        "accuracy.py metric* recompute.py interval.py notebook* stored_outputs.py data_set.py execution.py"
    ),
    "its speed": "performance.py measure.py against_served.py",
    "promotion, rollback, manifest, index": "promote.py manifest* index.py",
    "commands, template, readme": "cli/* template.py readme.py",
    "policy, order of checks, decision, record": "*.py",
    "robot: pages": "robot/pages/* robot/pages/templates/*",
    "robot: forges, webhooks, comments": (
        "robot/sources/* robot/report.py robot/webhook* robot/deliveries.py robot/sanitize.py robot/redact.py"
    ),
    "robot: git that a stranger feeds": (
        "robot/git.py robot/mirror.py robot/export.py robot/tree_size.py robot/promotion.py robot/zoo_policy.py"
    ),
    "robot: queue, workers, service, settings, alerts": "robot/*",
}
"""Patterns in their order: a file is counted for the first that it fits."""


_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def main() -> None:
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    paths = [path for path in _git("ls-tree", "-r", "--name-only", commit).splitlines() if _counted(path)]
    lines = {path: _lines_of_code(path, _git("show", f"{commit}:{path}")) for path in paths}
    rest = {path: count for path, count in lines.items() if path.startswith(SOURCE)}
    total = sum(rest.values())
    for concern, patterns in CONCERNS.items():
        fitting = [path for path in rest if _fits(path.removeprefix(SOURCE), patterns)]
        print(f"{sum(rest.pop(path) for path in fitting):6,}  {len(fitting):3} files  {concern}")
    assert not rest, rest
    tests = [count for path, count in lines.items() if not path.startswith(SOURCE)]
    print(f"{total:6,}  {len(lines) - len(tests):3} files  all of it")
    print(f"{sum(tests):6,}  {len(tests):3} files  tests")


def _counted(path: str) -> bool:
    """What `zoo init` copies is data."""
    if path.startswith(SOURCE):
        return path.endswith((".py", ".j2", ".html")) and not path.startswith(SOURCE + "data/")
    return path.startswith("tests/") and path.endswith(".py") and ("zoo" in path or "robot" in path)


def _fits(path: str, patterns: str) -> bool:
    """A star stands for no slash, so `*.py` are the files of the top folder alone."""
    name = PurePosixPath(path)
    return any(
        name.match(pattern) and len(name.parts) == len(PurePosixPath(pattern).parts) for pattern in patterns.split()
    )


def _lines_of_code(path: str, text: str) -> int:
    if not path.endswith(".py"):
        return sum(bool(line.strip()) for line in text.splitlines())
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(code)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=True, text=True).stdout


if __name__ == "__main__":
    main()
