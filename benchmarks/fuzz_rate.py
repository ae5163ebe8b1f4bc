"""How many distinct causes an hour of processor time gave: all tables of sessions in docs/results/fuzz-*.md, in their order, summed up.

    python benchmarks/fuzz_rate.py

A row counts where it says what was true and new. "under 0.01" hours count as 0.01, so that no rate is too high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGES = Path(__file__).parents[1] / "docs" / "results"
NEW, DUPLICATE, FALSE = "true and new", "duplicates", "false alarms"
HOURS, SECONDS = "processor hours", "processor s in all"


@dataclass(frozen=True)
class Sum:
    hours: float = 0.0
    new: int = 0
    rejected: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.hours + other.hours, self.new + other.new, self.rejected + other.rejected)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def rows(text: str) -> Iterator[tuple[str, Sum]]:
    """Of every table with the columns of a session."""
    header: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            header = []
            continue
        row = cells(line)
        if not header:
            header = row
        elif header[0] == "session" and NEW in header and not set(row[0]) <= {"-"}:
            known = dict(zip(header, row, strict=False))
            if (new := number(known.get(NEW, ""))) is not None:
                rejected = sum(int(number(known.get(name, "")) or 0) for name in (DUPLICATE, FALSE))
                yield row[0], Sum(hours(known), int(new), rejected)


def hours(known: dict[str, str]) -> float:
    if SECONDS in known:
        return (number(known[SECONDS]) or 0.0) / 3600
    return number(known.get(HOURS, "")) or 0.0


def number(text: str) -> float | None:
    """The first one of a cell."""
    figure = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    return float(figure.group().replace(",", "")) if figure else None


def main() -> None:
    print(
        "| page | processor hours, cumulative | true and new | rejected | causes an hour, cumulative |\n|---|---|---|---|---|"
    )
    whole = Sum()
    for page in sorted(PAGES.glob("fuzz-*.md")):
        for _, row in rows(page.read_text(encoding="utf-8")):
            whole += row
        if whole.hours:
            rate = whole.new / whole.hours
            print(f"| {page.stem} | {whole.hours:.2f} | {whole.new} | {whole.rejected} | {rate:.0f} |")


if __name__ == "__main__":
    main()
