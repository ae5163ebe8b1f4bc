"""Which run a user means: an id, the beginning of one, or "last"."""

from __future__ import annotations

from difflib import get_close_matches

from sqlalchemy import Connection, select
from sqlalchemy.sql.selectable import Select

from assay.errors import RunNotFound
from assay.stores.history_tables import runs

LAST = "last"
_RECENT = 200


def find_run(connection: Connection, run_id: str, name: str) -> int:
    """The number of the run. Raises RunNotFound, naming the runs that may have been meant."""
    number = connection.scalar(select(runs.c.number).where(runs.c.id == run_id))
    if number is not None:
        return int(number)
    if run_id == LAST:
        matches = connection.execute(_newest().limit(1)).all()
    elif run_id:
        matches = connection.execute(_newest().where(runs.c.id.startswith(run_id, autoescape=True)).limit(4)).all()
    else:
        matches = []
    if len(matches) == 1:
        return int(matches[0].number)
    if matches:
        some = ", ".join(match.id for match in matches[:3])
        raise RunNotFound(f'more than one run in {name} begins with "{run_id}" ({some}): give more of the id')
    raise RunNotFound(_nothing(connection, run_id, name))


def exact_run(connection: Connection, run_id: str, name: str) -> int:
    """The number of the run with exactly that id: what is written must not land in another run."""
    number = connection.scalar(select(runs.c.number).where(runs.c.id == run_id))
    if number is None:
        raise RunNotFound(_nothing(connection, run_id, name))
    return int(number)


def _newest() -> Select[tuple[int, str]]:
    return select(runs.c.number, runs.c.id).order_by(runs.c.id.desc())


def _nothing(connection: Connection, run_id: str, name: str) -> str:
    recent = [row.id for row in connection.execute(_newest().limit(_RECENT))]
    if not recent:
        return f"there is no run in {name} yet: record one with assay check"
    near = get_close_matches(run_id, recent, n=2, cutoff=0.8)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the newest are {', '.join(recent[:3])}"
    return f'there is no run "{run_id}" in {name}: {hint}'
