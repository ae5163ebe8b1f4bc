"""docs/oracle.md: every operator of the oracle at every version of its schema, beside evaluations that share no code with it.

    python benchmarks/oracle_table.py [--operators NAME ...] [--seeds N] [--page FILE]

Prints what is wrong and exits 1 if anything is.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

if TYPE_CHECKING:
    from oracle_table.table import Row

HEAD = """# The oracle, operator by operator

The oracle computes a model in double. It is right only if each of its operators is, so each is compared with an evaluation that
shares no code with it. `python benchmarks/oracle_table.py` makes this page; `pytest -m slow tests/unit/numerics/oracle` checks it, and
a few cases of the commonest operators are compared in every run of CI.

For example `GlobalMaxPool-22` of `float32[2, 3, 5]`: onnx's reference evaluator answers with the shape `[2, 1]`, ONNX Runtime with
`[2, 3, 1]`. That is one red row of this table, and was a wrong verdict on two right engines.

How it is made:

- **Cases** come from the schemas: each version of each operator, its types, its attributes at their defaults and at other values, optional
  inputs there and not, ranks 0 to 5, negative axes, broadcasting, axes of length 0 and 1, NaN, infinities and negative zero.
- **Witnesses**, in this order until one answers: ONNX Runtime with its optimizer off, ONNX Runtime at an earlier version of the
  operator, numpy written from the standard's text, our conversion into torch functions, the standard's definition by other operators
  in ONNX Runtime.
- **Compared** are shapes, dtypes and values: in the model's own types; in double; and two samples at once against each alone (*rows*).
- **Excused** are cases where the witness is at fault or the standard leaves the answer open, each for a reason that is written down
  (`tests/oracle_table/known.py`); `docs/findings` has scripts for faults of runtimes.
- **Not witnessed** are cases that only the oracle evaluates; **refused** those that the oracle says it cannot (in the model's types or
  in double).
- The exact sign of a zero is not compared, and of random operators only the type and the shape are.

"""


def page(rows: list[Row], seeds: int, took_s: float) -> str:
    import numpy
    import onnx
    import onnxruntime
    import torch

    from oracle_table.known import KNOWN

    cases, agreed = sum(row.cases for row in rows), sum(sum(row.agreed.values()) for row in rows)
    by: Counter[str] = Counter()
    for row in rows:
        by.update(row.agreed)
    versions = f"onnx {onnx.__version__}, ONNX Runtime {onnxruntime.__version__}, torch {torch.__version__}, numpy {numpy.__version__}"
    without = sorted({row.operator for row in rows if not row.cases})
    lines = [
        HEAD,
        f"Made with {versions}, {seeds} seed{'s' * (seeds > 1)}, in {took_s:.0f} s of one core.\n",
        "| | |\n|---|---|",
        f"| operators, versions of them | {len({(r.domain, r.operator) for r in rows})}, {len(rows)} |",
        f"| cases | {cases:,} |",
        f"| agree with a witness | {agreed:,} |",
        *(f"| of these with {name} | {count:,} |" for name, count in by.most_common()),
        f"| disagree | {sum(len(row.wrong) for row in rows)} |",
        f"| excused | {sum(row.excused for row in rows):,} |",
        f"| not witnessed | {sum(row.unwitnessed for row in rows):,} |",
        f"| refused by the oracle | {sum(row.refused for row in rows):,} |",
        f"| refused by all | {sum(row.invalid for row in rows):,} |",
        f"| evaluations of two samples at once | {sum(row.rows for row in rows):,} |",
        f"\nWithout a recipe, so without a case: {', '.join(without)}.\n",
        "## What is excused, and why\n",
        *(f"- {', '.join(entry.operators)}: {entry.reason}." for entry in KNOWN),
        "\n## Each version\n",
        "| operator | cases | agree | witnesses | excused | not witnessed | refused | rows | disagree |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_line(row) for row in rows if row.cases),
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    name = f"{row.domain + ' ' if row.domain else ''}{row.operator}-{row.version}"
    names = ", ".join(sorted(row.agreed))
    counts = (
        row.cases,
        sum(row.agreed.values()),
        names,
        row.excused,
        row.unwitnessed,
        row.refused,
        row.rows,
        len(row.wrong),
    )
    return f"| {name} | " + " | ".join(map(str, counts)) + " |"


def merged(rows: list[Row]) -> list[Row]:
    """The rows of several seeds as one."""
    by: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in rows:
        by[row.domain, row.operator, row.version].append(row)
    for first, *others in by.values():
        for other in others:
            first.add(other)
    return [each[0] for each in by.values()]


def main() -> int:
    from oracle_table.gen import schemas
    from oracle_table.table import row_of

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    start, rows = time.process_time(), []
    for schema in schemas():
        if options.operators and schema.name not in options.operators:
            continue
        rows += [row_of(schema, seed) for seed in range(options.seeds)]
        for text in (text for row in rows[-options.seeds :] for text in row.wrong):
            print(text, flush=True)
    rows = merged(rows)
    text = page(rows, options.seeds, time.process_time() - start)
    if options.page:
        options.page.write_text(text, encoding="utf-8")
    print(f"{sum(row.cases for row in rows)} cases, {sum(len(row.wrong) for row in rows)} disagreements")
    return int(any(row.wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main())
