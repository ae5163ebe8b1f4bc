"""Notes of people on runs and on points of trends."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select

from assay.core.annotation import Annotation
from assay.errors import RunNotFound
from assay.stores.history_tables import results, run_annotations, runs
from assay.stores.search import jobs_of


def add_annotation(connection: Connection, annotation: Annotation, run: int) -> None:
    """`run` is the number of its run. Raises RunNotFound for a cell that this run does not have."""
    if annotation.case:
        recorded = select(results.c.number).where(
            results.c.run == run, results.c.job.in_(jobs_of(annotation.case, annotation.flow))
        )
        if connection.scalar(recorded.limit(1)) is None:
            raise RunNotFound(f"run {annotation.run} has no {annotation.case} on {annotation.flow}")
    named = {"case": annotation.case, "flow": annotation.flow}
    row = {"at": annotation.at, "who": annotation.who, "text": annotation.text, "run": run, **named}
    connection.execute(insert(run_annotations), row)


def read_annotations(connection: Connection, run_id: str, case: str, flow: str, limit: int | None) -> list[Annotation]:
    """See `ports.KeepsAnnotations.annotations`."""
    column = run_annotations.c
    query = select(column.at, column.who, column.text, runs.c.id, column.case, column.flow)
    query = query.join(runs, runs.c.number == column.run)
    if run_id:
        query = query.where(runs.c.id == run_id)
    if run_id or case or flow:
        query = query.where(column.case == case, column.flow == flow)
    newest_first = connection.execute(query.order_by(column.number.desc()).limit(limit))
    return [Annotation(*row) for row in newest_first][::-1]
