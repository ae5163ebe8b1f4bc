"""Schedules that MetaSchedule found earlier: the best record of each kernel that its database knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from assay.core.flow import Flow, Option
from assay.errors import UsageError

WORKLOADS, RECORDS = FILES = ("database_workload.json", "database_tuning_record.json")
"""As `JSONDatabase(work_dir=...)` of `tvm.s_tir.meta_schedule` names them: one JSON value a line."""


class Records(NamedTuple):
    """A folder that was looked at. `told` is where it stands and what to give, for a sentence."""

    folder: Path
    told: str


class Scheduled(NamedTuple):
    """`found` says how many kernels had a record."""

    module: Any
    found: str


def records_of(options: dict[str, Option], flow: Flow) -> Records | None:
    """Those of the option. Raises UsageError: TVM ends the process (SIGSEGV) with a line that is empty."""
    if not options["records"]:
        return None
    folder = Path(str(options["records"]))
    text = f'Flow "{flow.name}": option "records" is {folder}'
    if options["target"] != "llvm" or options["optimization"] != "full":
        raise UsageError(f"{text}: records are of kernels with target llvm and optimization full; leave it out.")
    for name in FILES:
        _check_lines(folder / name, text)
    return Records(folder, text)


def _check_lines(file: Path, told: str) -> None:
    give = "give the folder in which MetaSchedule tuned (its work_dir)"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        pairs = [json.loads(line) for line in lines]
    except OSError:
        raise UsageError(f"{told}, where {file.name} cannot be read; {give}.") from None
    except ValueError:
        raise UsageError(f"{told}, where {file.name} is no database of MetaSchedule; {give}.") from None
    if not pairs or any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
        raise UsageError(f"{told}, where {file.name} is no database of MetaSchedule, or is empty; {give}.")


def by_records(module: Any, records: Records) -> Scheduled:
    """Inside a target and a pass context, after fusion. Raises UsageError where nothing of the database fits: what is checked would be
    the default schedule."""
    from tvm import relax, tirx
    from tvm.s_tir import meta_schedule

    try:
        database = meta_schedule.database.JSONDatabase(work_dir=str(records.folder))
    except Exception as error:  # RuntimeError, TypeError or its own InternalError, by what is wrong in the line
        raise UsageError(
            f"{records.told}, which this TVM cannot read ({error}); tune with the version that is installed."
        ) from error
    # Entered, and not given by its folder: the pass then warns that it opens a database.
    with database:
        module = relax.transform.MetaScheduleApplyDatabase(work_dir=None, enable_warning=True)(module)
    kernels = [one for one in module.functions.values() if isinstance(one, tirx.PrimFunc)]
    found = sum(bool((one.attrs or {}).get("tirx.is_scheduled", False)) for one in kernels)
    if not found:
        raise UsageError(
            f"{records.told}, which knows none of the {len(kernels)} kernels of this model; tune this model with the version of TVM"
            " that is installed, after its pipeline zero, or leave the option out."
        )
    return Scheduled(module, f"{found} of {len(kernels)} kernels")
