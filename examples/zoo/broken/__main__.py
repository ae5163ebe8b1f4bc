"""`python examples/zoo/broken`: the table. `python examples/zoo/broken FOLDER [NAME ...]`: build them, a zoo each."""

from __future__ import annotations

import sys
from pathlib import Path

from build import build
from case import TABLE


def main(arguments: list[str]) -> int:
    """Exit 2 for a name that is not in the table."""
    if not arguments:
        for broken in TABLE.values():
            print(f"{broken.name:28} {broken.answer:15} {broken.check:26} {broken.what}")
        return 0
    into, names = Path(arguments[0]), arguments[1:] or list(TABLE)
    if unknown := [name for name in names if name not in TABLE]:
        print(
            f"{', '.join(unknown)}: no broken submission has this name; without arguments all are listed",
            file=sys.stderr,
        )
        return 2
    for name in names:
        folder = build(into / name, TABLE[name])
        print(f"{folder}: {TABLE[name].what}; look at it with: assay zoo check {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
