"""What a broken submission is: one change to a good one, the answer it must get, and the one check that must say why."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Break = Callable[[Path], None]
"""Damages the submission in the folder that it is given."""


@dataclass(frozen=True, kw_only=True)
class Broken:
    """`check` alone fails, or alone stays undecided where `answer` is a person's. `zoo` are lines added to zoo.toml,
    `scenario` changes lines of the scenario: (pattern, put in its place). `previous`: the good one is accepted
    already. `also` are checks that say something of it, too. `costly` ones execute a notebook or wait for a limit, `near` ones are
    relatives of others or of a unit test: the quick tests take a few of them only."""

    name: str
    what: str
    check: str
    breaks: Break
    answer: str = "decline"
    zoo: tuple[str, ...] = ()
    scenario: tuple[tuple[str, str], ...] = ()
    previous: bool = False
    costly: bool = False
    near: bool = False
    also: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The group of checks that must find it."""
        return self.check.partition(".")[0]


TABLE: dict[str, Broken] = {}
"""Every broken submission by its name, in the order of the groups."""


def broken(
    name: str,
    what: str,
    check: str,
    *,
    answer: str = "decline",
    zoo: tuple[str, ...] = (),
    scenario: tuple[tuple[str, str], ...] = (),
    previous: bool = False,
    costly: bool = False,
    near: bool = False,
    also: tuple[str, ...] = (),
) -> Callable[[Break], Break]:
    """Enter the function that follows into the table."""

    def enter(breaks: Break) -> Break:
        assert name not in TABLE, name
        TABLE[name] = Broken(
            name=name, what=what, check=check, breaks=breaks, answer=answer, zoo=zoo, scenario=scenario,
            previous=previous, costly=costly, near=near, also=also,
        )  # fmt: skip
        return breaks

    return enter


def replace(file: Path, old: str, put: str) -> None:
    """Change one text of a file, and refuse to do nothing: a broken submission that is not broken proves nothing."""
    text = file.read_text(encoding="utf-8")
    if old not in text:
        raise LookupError(f"{file.name} does not say {old!r}: the good submission changed, change its damage, too")
    file.write_text(text.replace(old, put), encoding="utf-8")


def first_cell(notebook: Path, source: str) -> None:
    """Put a cell of code in front of all others."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    cell = {
        "cell_type": "code", "execution_count": None, "id": "damage", "metadata": {}, "outputs": [], "source": source,
    }  # fmt: skip
    content["cells"].insert(0, cell)
    notebook.write_text(json.dumps(content, indent=1), encoding="utf-8")
