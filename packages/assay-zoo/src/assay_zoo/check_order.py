"""All is said at once: a group waits only for a finding after which it cannot run, and what may follow from another finding is
no finding of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

import msgspec

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.metadata import Metadata
from assay_zoo.zoo_files import METADATA

NOTEBOOKS = "notebooks"
"""The part of accuracy that executes notebooks: it may wait while the rest of the group runs."""
_MODEL = ("compliance", "functionality", "accuracy", "performance")
_DATA = ("functionality", "performance")
_RUN = (*_DATA, "accuracy")
_READ_ALL_THE_SAME = ("files.secrets", "files.pickles", "files.programs", "files.archives")
"""Findings in a file that can be opened: what else is wrong with it is another fault."""
_OF_DATA = ("artifacts.samples", "functionality.data", "functionality.inputs", "functionality.golden")
"""Checks of the test data sets alone."""
_OF_THE_MODEL = ("accuracy.recomputed", "performance.all", "performance.measured")
"""Checks that fail with nothing executed where the model does not run."""


def waits_for(group: str, before: Sequence[Check], metadata: Metadata | None = None) -> str:
    """The check whose finding comes first; "" where nothing holds `group` up. `NOTEBOOKS` is asked for as a group of its own."""
    for check in before:
        if group in _held_up(check, _files_of(metadata)):
            return check.name
    return ""


def _files_of(metadata: Metadata | None) -> dict[str, str]:
    """What each group opens, by path."""
    fields = Metadata.model_fields
    paths = {
        key: getattr(metadata, key) if metadata else fields[key].default for key in ("model", "inference", "validation")
    }
    scripts = {
        getattr(metadata, key) if metadata else fields[key].default for key in ("preprocessing", "postprocessing")
    }
    return {
        paths["model"]: "model",
        paths["inference"]: NOTEBOOKS,
        paths["validation"]: NOTEBOOKS,
        **dict.fromkeys(scripts, NOTEBOOKS),
    }


def _held_up(check: Check, files: dict[str, str]) -> Collection[str]:
    """The groups that cannot run after what this check found."""
    failed = check.outcome is CheckOutcome.FAILED
    if check.name == "artifacts.author":
        return (*_RUN, NOTEBOOKS) if check.outcome is CheckOutcome.UNDECIDED else ()
    if check.group in ("files", "compliance") and check.outcome is CheckOutcome.INFRASTRUCTURE:
        return (*_MODEL, NOTEBOOKS)
    if check.group == "files" and check.outcome in (CheckOutcome.FAILED, CheckOutcome.UNDECIDED):
        return () if check.name in _READ_ALL_THE_SAME else _by_path(check, files)
    if not failed:
        return ()
    if check.group == "compliance":
        return (*_RUN, NOTEBOOKS) if check.costly else _DATA if check.stops else ()
    if check.name == "artifacts.samples":
        return _DATA
    if check.name == "artifacts.parts":
        return (NOTEBOOKS,) if files.get(check.path) == NOTEBOOKS else ()
    if check.name == "artifacts.sources":
        return (NOTEBOOKS,)
    if check.name == "functionality.data" or (check.group == "functionality" and check.stops):
        return ("performance",)
    return ()


def _by_path(check: Check, files: dict[str, str]) -> Collection[str]:
    """A file that was not taken, or that cannot be read, holds up those that open it."""
    if check.name == "files.external_data" or check.stops:
        return (*_MODEL, NOTEBOOKS)
    if check.path.startswith("test_data_set"):
        return _DATA
    kinds = {
        kind for path, kind in files.items() if check.path and (path == check.path or path.startswith(f"{check.path}/"))
    }
    if "model" in kinds:
        return (*_MODEL, NOTEBOOKS)
    return (NOTEBOOKS,) if NOTEBOOKS in kinds else ()


def drop_consequential_failures(checks: Sequence[Check], before: Sequence[Check]) -> list[Check]:
    """As skipped: what is wrong with a part because its file was not taken or cannot be read, and what fails on a model, or on
    test data, in which a finding was made already."""
    unread = dict(_unread(before))
    causes = _Causes(before)
    kept: list[Check] = []
    for check in checks:
        first = _first(check, unread) or causes.of(check)
        sentence = f"not judged: it may follow from {first}, which must hold first"
        skipped = msgspec.structs.replace(check, outcome=CheckOutcome.SKIPPED, sentence=sentence, line=0, executed=0)
        new = skipped if first else check
        if new not in kept:  # ten sections that an unreadable file lacks wait once
            kept.append(new)
    return kept


def _bad(check: Check) -> bool:
    return bool(check.path) and check.outcome in (
        CheckOutcome.FAILED,
        CheckOutcome.INFRASTRUCTURE,
        CheckOutcome.UNDECIDED,
    )


def _unread(before: Sequence[Check]) -> Iterator[tuple[PurePosixPath, str]]:
    readable = (*_READ_ALL_THE_SAME, "files.external_data")
    for check in before:
        if check.group == "files" and _bad(check) and check.name not in readable:
            yield PurePosixPath(check.path), check.name


def _first(check: Check, unread: dict[PurePosixPath, str]) -> str:
    if (
        not check.path
        or check.outcome not in (CheckOutcome.FAILED, CheckOutcome.UNDECIDED)
        or check.group == "compliance"
    ):
        return ""
    path = PurePosixPath(check.path)
    return next((unread[place] for place in (path, *path.parents) if place in unread), "")


class _Causes:
    """What an earlier finding explains of a later one."""

    def __init__(self, before: Sequence[Check]) -> None:
        failed = [check for check in before if check.outcome is CheckOutcome.FAILED]
        # What metadata.toml says of a model makes no runtime refuse it.
        self._model = _name(
            check
            for check in failed
            if (check.group == "compliance" and check.path != METADATA)
            or (check.stops and check.group == "functionality")
        )
        self._files = {check.path: check.name for check in before if check.group == "files" and _bad(check)}
        self._data = _name(check for check in failed if check.name in _OF_DATA or _of_data(check))

    def of(self, check: Check) -> str:
        """The check whose finding is enough to explain this one; "" for a finding of its own."""
        if check.outcome is CheckOutcome.UNDECIDED and check.name == "artifacts.parts":
            return self._files.get(check.path, "")
        if check.outcome is CheckOutcome.UNDECIDED and check.group == "functionality" and not check.executed:
            return self._model  # the oracle has no answer
        if check.outcome is not CheckOutcome.FAILED:
            return ""
        if check.path.startswith("test_data_set") and check.group in ("accuracy", "performance"):
            return self._data
        if check.name in ("accuracy.inference", "accuracy.validation"):
            return self._model if check.of_runtime else ""
        ran_nothing = (check.group == "functionality" and check.stops) or (
            check.name in _OF_THE_MODEL and not check.executed
        )
        return self._model if ran_nothing else ""


def _of_data(check: Check) -> bool:
    return check.group == "files" and check.path.startswith("test_data_set")


def _name(checks: Iterable[Check]) -> str:
    return next((check.name for check in checks), "")
