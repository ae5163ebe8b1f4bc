"""Lines of code of `assay-zoo` by what they are for, and of its tests: `python benchmarks/zoo_lines.py [COMMIT]`.

A line counts where code stands on it: no blank line, no comment and no docstring. Lines of templates count where they are not blank.
Beside them how many of the bad submissions of today would pass without the checks of these lines: no other check finds them.
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
    "files of a stranger: taken in, opened within limits": ("intake.py files/* limited_process*", "files."),
    "owners, names, versions, copies": (
        "conflicts.py artifacts/identity.py facts.py",
        "artifacts.name artifacts.author artifacts.owner artifacts.copy",
    ),
    "published: code of scripts and notebooks": (
        "artifacts/code/* artifacts/inspect_source.py artifacts/notebooks/magics.py artifacts/notebooks/shown_markup.py",
        "artifacts.scan artifacts.sources",
    ),
    "published: licences and terms": (
        "artifacts/rights/* artifacts/pages/model_notes.py license_families.py",
        "artifacts.license",
    ),
    "published: what readers are to install or to run": (
        "artifacts/installs/* artifacts/required_files.py",
        "artifacts.requirements",
    ),
    "published: readmes, pages, links, words of the template": (
        "artifacts/pages/* artifacts/public* readme.py readme_badges.py",
        "artifacts.markup artifacts.links artifacts.readme artifacts.template",
    ),
    "published: metadata, notebooks, samples": ("artifacts/* artifacts/notebooks/*", "artifacts."),
    "the model: specification and bounds": ("compliance/*", "compliance."),
    "its answers on every runtime": ("functionality/*", "functionality."),
    "its accuracy: notebooks in the sandbox, computed again": ("accuracy/* data_set.py", "accuracy."),
    "its speed": ("performance/*", "performance."),
    "promotion, rollback, manifest, index": ("promote.py manifest* index.py", ""),
    "commands, template": ("cli/* template.py", ""),
    "policy, order of checks, decision, record": ("*.py", ""),
    "robot: pages": ("robot/pages.py", ""),
    "robot: forges, comments": (
        "robot/sources/* robot/report.py robot/sanitize.py robot/redact.py",
        "",
    ),
    "robot: git that a stranger feeds": (
        "robot/git.py robot/mirror.py robot/export.py robot/tree_size.py robot/promotion.py robot/zoo_policy.py",
        "",
    ),
    "robot: queue, workers, service, settings, alerts": ("robot/*", ""),
}
"""Patterns of files in their order, a file is counted for the first that it fits; and the checks that they make."""
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def main() -> None:
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    paths = [path for path in _git("ls-tree", "-r", "--name-only", commit).splitlines() if _counted(path)]
    lines = {path: _lines_of_code(path, _git("show", f"{commit}:{path}")) for path in paths}
    rest = {path: count for path, count in lines.items() if path.startswith(SOURCE)}
    total = sum(rest.values())
    bad = _decided_alone()
    for concern, (patterns, checks) in CONCERNS.items():
        fitting = [path for path in rest if _fits(path.removeprefix(SOURCE), patterns)]
        alone = [check for check in bad if any(map(check.startswith, checks.split()))]
        bad = [check for check in bad if check not in alone]
        code = sum(rest.pop(path) for path in fitting)
        print(f"{code:6,}  {len(fitting):3} files  {len(alone):3} of the bad submissions  {concern}")
    assert not rest, rest
    tests = [count for path, count in lines.items() if not path.startswith(SOURCE)]
    print(f"{total:6,}  {len(lines) - len(tests):3} files  all of it")
    print(f"{sum(tests):6,}  {len(tests):3} files  tests")


def _decided_alone() -> list[str]:
    """The check of each bad submission that no other check finds."""
    sys.path.insert(0, str(ROOT / "examples" / "zoo" / "broken"))
    import build  # noqa: F401 - it fills the table
    from case import TABLE

    return [case.check for case in TABLE.values() if not case.also]


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
