"""What crosses into the processes that read and compare a submission's data, and what comes back."""

from __future__ import annotations

import msgspec

from assay.core.job import DeriveToleranceJob
from assay.core.model import Model

SIZES = (1, 3, 8)
"""At which a free batch is run: one, an odd one, a larger one, and that in reversed order."""
BATCHES = (*(f"batch {size}" for size in SIZES), f"batch {SIZES[-1]} in reversed order")


class DataRequest(msgspec.Struct, frozen=True):
    """`batched` are the inputs whose first dimension the metadata leave free; None: ask the model."""

    folder: str
    model: str
    out: str
    batched: tuple[str, ...] | None = None


class Data(msgspec.Struct, frozen=True):
    """`sets` are the names of those that are whole, in the order of the samples; `problems` one sentence for each that is
    not. Below `out` lie the goldens `inputs`, `expected` and, where the batch is free, `batch`. `telling` are the different samples,
    of `samples` in all, that could tell a right model from a wrong one; `held` is the first set that the model has among its weights;
    `quantizes`: by scales of the values that it is run with; `single`: each set has one row where the batch is free."""

    model: Model
    sets: tuple[str, ...]
    problems: tuple[str, ...] = ()
    batched: bool = False
    unbatched: str = ""
    telling: int = 2
    samples: int = 2
    held: str = ""
    quantizes: bool = False
    single: bool = False


class GoldenRequest(msgspec.Struct, frozen=True):
    """`job` is that by which the tolerance of plain float32 was derived from the oracle's answers."""

    job: DeriveToleranceJob
    expected: str
    sets: tuple[str, ...]


class RowsRequest(msgspec.Struct, frozen=True):
    """`reference` is the folder of the oracle's answers to BATCHES."""

    reference: str
    quantizes: bool = False


class GoldenAnswer(msgspec.Struct, frozen=True):
    """`problems` is empty where everything agrees; `unproven` says why an agreement proves nothing ("" if it does);
    `budget_used` is the worst share of what was allowed."""

    problems: tuple[str, ...]
    unproven: str = ""
    budget_used: float = 0.0
