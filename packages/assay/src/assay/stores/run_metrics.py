"""Some metrics of some cells in some runs: the values of earlier runs beside a comparison."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, select

from assay.ports.browsing import RunMetrics
from assay.stores.history_tables import metric_values
from assay.stores.metric_values import Names, read_names, read_numbers
from assay.stores.search import jobs_of_cells, verify_first
from assay.stores.statements import among, chunks


def run_metrics(
    connection: Connection,
    numbers: Mapping[str, int],
    cells: Collection[tuple[str, str]],
    metrics: Collection[str] | None = None,
) -> list[RunMetrics]:
    """See `ports.Browsable.run_metrics`; `numbers` are those of the runs. By the key alone, where what is wanted lies in its index."""
    jobs = jobs_of_cells(connection, sorted(set(cells)))
    row, ids = metric_values.c, {number: run_id for run_id, number in numbers.items()}
    query = select(row.job, row.run, row.names, row.numbers)
    rows = [
        entry
        for some in chunks(sorted(ids))
        for entry in connection.execute(
            query.where(among(connection, row.job, jobs), among(connection, row.run, some))
        ).all()
    ]
    names = read_names(connection, {entry.names for entry in rows})
    places = {number: _places(of, metrics) for number, of in names.items()}
    ends = {number: 1 + max(of.values(), default=-1) for number, of in places.items()}
    entries = [
        (entry, _values(places[entry.names], whole))
        for entry, whole in zip(rows, read_numbers(connection, rows, ends), strict=True)
    ]

    return [
        RunMetrics(ids[entry.run], jobs[entry.job].case, jobs[entry.job].flow, values, names[entry.names].names)
        for entry, values in sorted(entries, key=lambda pair: (ids[pair[0].run], verify_first(jobs[pair[0].job])))
    ]


def _places(names: Names, metrics: Collection[str] | None) -> dict[str, int]:
    """Of the numbers of those that are wanted."""
    return {name: names.place(name) for name in names.names if metrics is None or name in metrics}


def _values(places: dict[str, int], numbers: bytes) -> dict[str, float]:
    return {name: struct.unpack_from("<d", numbers, 8 * place)[0] for name, place in places.items()}
