"""The test data sets of a submission as a golden folder: read in a limited process, because they are untrusted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.case import Case, Inputs
from assay.core.limits import Limits
from assay.errors import BadGolden, HarnessError
from assay.pipeline.adapters import Services
from assay.pipeline.inspect_models import inspect_models
from assay.pipeline.request import ModelRequest
from assay_zoo.limited_process import Ending, run_limited
from assay_zoo.policy import RunLimits

_SECONDS = 60.0


def limits_of(run: RunLimits) -> Limits:
    """What a job of a submission may use in a worker."""
    return Limits(timeout_s=run.seconds, memory_bytes=run.memory_bytes)


def case_of(model: Path, name: str, services: Services, run: RunLimits) -> Case:
    """The model as a case without data. Raises UsageError for one that cannot be read."""
    return services.jobs.complete(
        inspect_models([ModelRequest(path=model, flows=(), name=name)], limits_of(run), services)
    )[0]


def data_set_folders(submission: Path) -> list[Path]:
    """test_data_set_0, test_data_set_1 ... as they are there."""
    paths = [path for path in submission.glob("test_data_set_*") if path.name.rpartition("_")[2].isdecimal()]
    return sorted(paths, key=lambda path: int(path.name.rpartition("_")[2]))


def with_data_sets(
    case: Case, sets: Sequence[Path], into: Path, run: RunLimits, *, fresh: tuple[int, bool] | None = None
) -> Case:
    """The case with the golden written to `into`; `fresh`, the seed and whether it is turned: with values of its inputs drawn by it.
    Raises BadGolden where the sets do not fit the model, HarnessError."""
    import msgspec

    item = {"case": msgspec.to_builtins(case), "sets": [str(path) for path in sets], "into": str(into), "fresh": fresh}
    answer = run_limited(
        "assay_zoo.functionality.golden_of_sets:write", [item], seconds=_SECONDS, memory_bytes=run.memory_bytes
    )[0]
    if answer.ending is Ending.HARNESS:
        raise HarnessError(answer.sentence)
    if answer.ending is not Ending.OK:
        raise BadGolden(f"the test data sets cannot be read: {answer.sentence}")
    return msgspec.structs.replace(case, inputs=Inputs(golden=str(into)))
