"""All is said at once: a group waits only for a finding after which it cannot run, and what may follow from another finding is
no finding of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

import msgspec

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.metadata import Metadata
from assay_zoo.repository import METADATA

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
    for one in before:
        if group in _held_up(one, _files_of(metadata)):
            return one.name
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


def _held_up(one: Check, files: dict[str, str]) -> Collection[str]:
    """The groups that cannot run after what this check found."""
    failed = one.outcome is CheckOutcome.FAILED
    if one.name == "artifacts.author":
        return (*_RUN, NOTEBOOKS) if one.outcome is CheckOutcome.UNDECIDED else ()
    if one.group in ("files", "compliance") and one.outcome is CheckOutcome.INFRASTRUCTURE:
        return (*_MODEL, NOTEBOOKS)
    if one.group == "files" and one.outcome in (CheckOutcome.FAILED, CheckOutcome.UNDECIDED):
        return () if one.name in _READ_ALL_THE_SAME else _by_path(one, files)
    if not failed:
        return ()
    if one.group == "compliance":
        return (*_RUN, NOTEBOOKS) if one.costly else _DATA if one.stops else ()
    if one.name == "artifacts.samples":
        return _DATA
    if one.name == "artifacts.parts":
        return (NOTEBOOKS,) if files.get(one.path) == NOTEBOOKS else ()
    if one.name == "artifacts.sources":
        return (NOTEBOOKS,)
    if one.name == "functionality.data" or (one.group == "functionality" and one.stops):
        return ("performance",)
    return ()


def _by_path(one: Check, files: dict[str, str]) -> Collection[str]:
    """A file that was not taken, or that cannot be read, holds up those that open it."""
    if one.name == "files.external_data" or one.stops:
        return (*_MODEL, NOTEBOOKS)
    if one.path.startswith("test_data_set"):
        return _DATA
    kinds = {kind for path, kind in files.items() if one.path and (path == one.path or path.startswith(f"{one.path}/"))}
    if "model" in kinds:
        return (*_MODEL, NOTEBOOKS)
    return (NOTEBOOKS,) if NOTEBOOKS in kinds else ()


def drop_consequential_failures(found: Sequence[Check], before: Sequence[Check]) -> list[Check]:
    """As skipped: what is wrong with a part because its file was not taken or cannot be read, and what fails on a model, or on
    test data, in which a finding was made already."""
    unread = dict(_unread(before))
    causes = _Causes(before)
    kept: list[Check] = []
    for one in found:
        first = _first(one, unread) or causes.of(one)
        sentence = f"not judged: it may follow from {first}, which must hold first"
        skipped = msgspec.structs.replace(one, outcome=CheckOutcome.SKIPPED, sentence=sentence, line=0, executed=0)
        new = skipped if first else one
        if new not in kept:  # ten sections that an unreadable file lacks wait once
            kept.append(new)
    return kept


def _unread(before: Sequence[Check]) -> Iterator[tuple[PurePosixPath, str]]:
    closed = (CheckOutcome.FAILED, CheckOutcome.INFRASTRUCTURE, CheckOutcome.UNDECIDED)
    for one in before:
        readable = (*_READ_ALL_THE_SAME, "files.external_data")
        if one.group == "files" and one.path and one.outcome in closed and one.name not in readable:
            yield PurePosixPath(one.path), one.name


def _first(one: Check, unread: dict[PurePosixPath, str]) -> str:
    if not one.path or one.outcome not in (CheckOutcome.FAILED, CheckOutcome.UNDECIDED) or one.group == "compliance":
        return ""
    path = PurePosixPath(one.path)
    return next((unread[place] for place in (path, *path.parents) if place in unread), "")


class _Causes:
    """What an earlier finding explains of a later one."""

    def __init__(self, before: Sequence[Check]) -> None:
        failed = [one for one in before if one.outcome is CheckOutcome.FAILED]
        # What metadata.toml says of a model makes no runtime refuse it.
        self._model = _name(
            one
            for one in failed
            if (one.group == "compliance" and one.path != METADATA) or (one.stops and one.group == "functionality")
        )
        self._data = _name(one for one in failed if one.name in _OF_DATA or _of_data(one))

    def of(self, one: Check) -> str:
        """The check whose finding is enough to explain this one; "" for a finding of its own."""
        if one.outcome is CheckOutcome.UNDECIDED and one.group == "functionality" and not one.executed:
            return self._model  # the oracle has no answer
        if one.outcome is not CheckOutcome.FAILED:
            return ""
        if one.path.startswith("test_data_set") and one.group in ("accuracy", "performance"):
            return self._data
        if one.name in ("accuracy.inference", "accuracy.validation"):
            return self._model if one.of_runtime else ""
        ran_nothing = (one.group == "functionality" and one.stops) or (one.name in _OF_THE_MODEL and not one.executed)
        return self._model if ran_nothing else ""


def _of_data(one: Check) -> bool:
    return one.group == "files" and one.path.startswith("test_data_set")


def _name(found: Iterable[Check]) -> str:
    return next((one.name for one in found), "")
