"""Lines of `assay-zoo` by what they are for, blank lines and comments counted: `python benchmarks/zoo_lines.py`."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).parents[1] / "packages" / "assay-zoo" / "src" / "assay_zoo"
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
    "robot: pages": "robot/pages/*",
    "robot: forges, webhooks, comments": (
        "robot/sources/* robot/report.py robot/webhook* robot/deliveries.py robot/sanitize.py robot/redact.py"
    ),
    "robot: git that a stranger feeds": (
        "robot/git.py robot/mirror.py robot/export.py robot/tree_size.py robot/promotion.py robot/zoo_policy.py"
    ),
    "robot: queue, workers, service, settings, alerts": "robot/*",
}
"""Patterns in their order: a file is counted for the first that it fits."""


def main() -> None:
    counted: set[Path] = set()
    total = 0
    for concern, patterns in CONCERNS.items():
        found = {
            path
            for pattern in patterns.split()
            for path in SOURCE.glob(pattern)
            if path.suffix in (".py", ".j2", ".html")
        }
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in found - counted)
        print(f"{lines:6,}  {len(found - counted):3} files  {concern}")
        counted |= found
        total += lines
    left = [
        path for path in SOURCE.rglob("*.py") if path not in counted and "data" not in path.relative_to(SOURCE).parts
    ]
    assert not left, left
    print(f"{total:6,}  {len(counted):3} files")


if __name__ == "__main__":
    main()
