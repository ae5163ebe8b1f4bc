"""Schedules that MetaSchedule found earlier: the best record of each kernel that its database knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import UsageError

WORKLOADS, RECORDS = FILES = ("database_workload.json", "database_tuning_record.json")
"""As `JSONDatabase(work_dir=...)` of `tvm.s_tir.meta_schedule` names them: one JSON value a line."""


class Records(NamedTuple):
    """A folder that was looked at, of this flow."""

    folder: Path
    flow: str


class Scheduled(NamedTuple):
    """`found` says how many kernels had a record."""

    module: Any
    found: str


def records_of(options: dict[str, Option], flow: Flow) -> Records | None:
    """Those of the option. Raises UsageError: TVM ends the process (SIGSEGV) with a line that is empty."""
    if not options["records"]:
        return None
    folder = Path(str(options["records"]))
    if options["target"] != "llvm" or options["optimization"] != "full":
        needs = ("target=llvm", "optimization=full")
        note = noted(BackendCode.OPTION_NEEDS, flow=flow.name, option="records", value=str(folder), needs=needs)
        raise UsageError(note)
    for name in FILES:
        _check_lines(folder / name, flow.name)
    return Records(folder, flow.name)


def _check_lines(file: Path, flow: str) -> None:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        pairs = [json.loads(line) for line in lines]
    except OSError:
        raise UsageError(noted(BackendCode.RECORDS_NOT_READ, flow=flow, file=str(file))) from None
    except ValueError:
        pairs = []
    if not pairs or any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
        raise UsageError(noted(BackendCode.NO_RECORDS, flow=flow, file=str(file)))


def by_records(module: Any, records: Records) -> Scheduled:
    """Inside a target and a pass context, after fusion. Raises UsageError where nothing of the database fits: what is checked would be
    the default schedule."""
    from tvm import relax, tirx
    from tvm.s_tir import meta_schedule

    try:
        database = meta_schedule.database.JSONDatabase(work_dir=str(records.folder))
    except Exception as error:  # RuntimeError, TypeError or its own InternalError, by what is wrong in the line
        raise UsageError(
            noted(
                BackendCode.RECORDS_OF_ANOTHER,
                flow=records.flow,
                folder=str(records.folder),
                error=str(error),
            )
        ) from error
    # Entered, and not given by its folder: the pass then warns that it opens a database.
    with database:
        module = relax.transform.MetaScheduleApplyDatabase(work_dir=None, enable_warning=True)(module)
    kernels = [function for function in module.functions.values() if isinstance(function, tirx.PrimFunc)]
    scheduled = sum(bool((kernel.attrs or {}).get("tirx.is_scheduled", False)) for kernel in kernels)
    if not scheduled:
        raise UsageError(
            noted(
                BackendCode.RECORDS_OF_NO_KERNEL,
                flow=records.flow,
                folder=str(records.folder),
                kernels=len(kernels),
            )
        )
    return Scheduled(module, f"{scheduled} of {len(kernels)} kernels")
