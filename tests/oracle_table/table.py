"""One row of the table for each version of each operator: how many cases, and what became of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.errors import AssayError, Lowering, Unsupported
from assay.numerics.oracle.batched.evaluation import Rows, evaluate_rows, stackable
from assay.numerics.oracle.batched.operator import NotBatchable
from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
from assay.numerics.oracle.hooks import SILENT, Hook
from oracle_table.case import OpCase
from oracle_table.comparing import difference
from oracle_table.known import excused
from oracle_table.recipes import cases_of
from oracle_table.witnesses import WITNESSES, Refused

_REAL = ("float32", "float16", "bfloat16")


@dataclass
class Row:
    """`refused`: the oracle says that it cannot; `agreed` counts witnesses by name; `excused` disagreements lie with the witness, for
    a reason that is written down (`known`). `wrong` are all others."""

    operator: str
    version: int
    domain: str = ""
    cases: int = 0
    agreed: dict[str, int] = field(default_factory=dict)
    unwitnessed: int = 0
    invalid: int = 0
    refused: int = 0
    excused: int = 0
    rows: int = 0
    wrong: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    def add(self, other: Row) -> None:
        """Of another seed."""
        for name in ("cases", "unwitnessed", "invalid", "refused", "excused", "rows"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, count in other.agreed.items():
            self.agreed[name] = self.agreed.get(name, 0) + count
        self.wrong += other.wrong
        self.gaps += other.gaps


class _Quiet(Rows):
    def touches(self, outputs: tuple[str, ...]) -> bool:
        return False

    def row(self, number: int) -> Hook:
        return SILENT

    def broken(self, outputs: tuple[str, ...], why: str) -> None:
        raise AssertionError(f"a form that was lifted failed: {why}")


def row_of(schema: Any, seed: int = 0, at_most: int = 0) -> Row:
    """`at_most` takes as many cases, spread over all of them."""
    row = Row(schema.name, schema.since_version, schema.domain)
    cases = cases_of(schema, seed)
    if at_most and len(cases) > at_most:
        cases = [cases[int(at)] for at in np.linspace(0, len(cases) - 1, at_most)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in cases:
            row.cases += 1
            _judge(row, case)
    return row


def _judge(row: Row, case: OpCase) -> None:
    try:
        own: Any = Evaluator(case.model()).evaluate(case.feeds())
    except Exception as error:
        own = error
    name, theirs, failed = _witness(case, own)
    if isinstance(own, Exception):
        if theirs is None:
            row.invalid += 1
        elif why := excused(case, f"refused: {own}", name):
            del why
            row.excused += 1
        elif isinstance(own, Unsupported | NotImplementedError) or isinstance(
            getattr(own, "__cause__", None), NotImplementedError
        ):
            row.refused += 1
            row.gaps.append(f"{case}: {str(own)[:160]}")
        else:
            row.wrong.append(f"{case}: {name} gives it, the oracle fails: {type(own).__name__}: {str(own)[:200]}")
        return
    if theirs is None:
        row.unwitnessed += 1
        row.gaps.append(f"{case}: no witness")
    elif failed and excused(case, failed, name):
        row.excused += 1
    elif failed:
        row.wrong.append(f"{case}: own types: {failed} ({name})")
    else:
        row.agreed[name] = row.agreed.get(name, 0) + 1
    _judge_wide(row, case, own, theirs, name)


def _witness(case: OpCase, own: Any) -> tuple[str, Any, str]:
    """The first that answers, and how it differs: a later one cannot excuse the oracle."""
    for name, witness in WITNESSES.items():
        try:
            theirs = witness(case)
        except Refused:
            continue
        if isinstance(own, Exception):
            return name, theirs, ""
        return name, theirs, difference(own, theirs, only_kind=case.random, level=_level(case))
    return "", None, ""


def _judge_wide(row: Row, case: OpCase, own: Any, theirs: Any, name: str) -> None:
    """The oracle proper: everything in double."""
    feeds = {key: _widened(value) for key, value in case.feeds().items()}
    try:
        evaluator = WideEvaluator(case.model())
        wide = evaluator.evaluate(feeds)
    except (Unsupported, NotImplementedError):
        row.refused += 1
        row.gaps.append(f"{case}: not in double")
        return
    except (AssayError, Exception) as error:
        row.wrong.append(f"{case}: in double: {type(error).__name__}: {str(error)[:200]}")
        return
    precision = max(
        (_precision(value) for value in case.inputs),
        key=lambda text: {"bfloat16": 3, "float16": 2, "float32": 1}.get(text, 0),
        default="",
    )
    answer = theirs if theirs is not None else own
    wrong = difference(
        wide, answer, dtype=False, precision=precision or "float32", only_kind=case.random, level=_level(case)
    )
    if wrong and not _saturated(answer) and not excused(case, wrong, f"{name} in double"):
        row.wrong.append(f"{case}: in double: {wrong} ({name})")
    narrow = [array for array in wide if isinstance(array, np.ndarray) and array.dtype.name in _REAL]
    if narrow:
        row.wrong.append(f"{case}: in double an output is {narrow[0].dtype}")
    _judge_rows(row, case, evaluator, feeds)


def _judge_rows(row: Row, case: OpCase, evaluator: WideEvaluator, feeds: dict[str, Any]) -> None:
    """Two evaluations at once say what each says alone."""
    moving = [
        key for key, feed in feeds.items() if isinstance(feed, np.ndarray) and feed.dtype.kind == "f" and feed.ndim
    ]
    if case.random or not moving or not stackable(evaluator):
        return
    sets: Sequence[list[str]] = [moving[:1], moving] if len(moving) > 1 else [moving]
    for some in sets:
        others = [{**feeds, **{key: feeds[key] * (1 + at / 64) for key in some}} for at in range(2)]
        try:
            each = [evaluator.evaluate(other) for other in others]
            given = {**feeds, **{key: np.stack([other[key] for other in others]) for key in some}}
            answers = evaluate_rows(evaluator, given, some, 2, _Quiet(), evaluator.output_names)
        except (NotBatchable, Unsupported):
            continue
        except Lowering as error:
            if "cannot be evaluated" in str(error):
                continue
            continue
        except AssertionError as error:
            row.wrong.append(f"{case}: in rows: {error}")
            return
        row.rows += 1
        for at in range(2):
            if wrong := difference(list(answers[at]), each[at], precision="float64"):
                row.wrong.append(f"{case}: in rows {some}: {wrong}")
                return


def _level(case: OpCase) -> float:
    """The largest number that goes in: sums of such cancel."""
    real = [
        array.astype(np.float64)
        for array in case.inputs
        if isinstance(array, np.ndarray) and array.dtype.name in (*_REAL, "float64")
    ]
    sizes = [np.max(np.abs(array[np.isfinite(array) & (np.abs(array) < 1e25)]), initial=0.0) for array in real]
    return float(max(sizes, default=0.0))


def _saturated(values: Any) -> bool:
    """A narrower type overflowed, where double does not."""
    return any(
        isinstance(value, np.ndarray) and value.dtype.name in _REAL and not np.isfinite(value.astype(np.float64)).all()
        for value in values
    )


def _widened(value: Any) -> Any:
    if isinstance(value, list):
        return [_widened(part) for part in value]
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.name in _REAL else value


def _precision(value: Any) -> str:
    array = value[0] if isinstance(value, list) and value else value
    return array.dtype.name if isinstance(array, np.ndarray) and array.dtype.name in _REAL else ""


def rows(names: Sequence[str] = (), seed: int = 0) -> Iterator[Row]:
    from oracle_table.gen import schemas

    for schema in schemas():
        if not names or schema.name in names:
            yield row_of(schema, seed)
