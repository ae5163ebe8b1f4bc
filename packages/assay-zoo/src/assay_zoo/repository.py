"""A zoo as a folder: where its policy, scenarios, submissions and accepted models lie, and how they are read."""

from __future__ import annotations

import os
from pathlib import Path

from assay.config.toml_errors import nearest, read
from assay.errors import UsageError
from assay_zoo.policy import Scenario, ZooPolicy
from assay_zoo.zoo_files import MODELS, POLICY, SCENARIOS, SUBMISSIONS


def find_root(start: Path) -> Path:
    """The nearest folder at or above `start` that holds a zoo.toml. Raises UsageError."""
    here = start.absolute()
    for folder in (here, *here.parents):
        if (folder / POLICY).is_file():
            return folder
    raise UsageError(
        f"{start} lies in no zoo: neither it nor a folder above it has a {POLICY}; "
        "give the zoo with --zoo FOLDER, or make one with `assay zoo init`"
    )


def read_policy(root: Path) -> ZooPolicy:
    """zoo.toml. Raises BadPolicy with one sentence for each mistake, with its line; UsageError where there is none."""
    return read(named_root(root) / POLICY).validate(ZooPolicy)


def named_root(root: Path) -> Path:
    """That folder, which is a zoo. Raises UsageError where it is none."""
    if not (root / POLICY).is_file():
        raise UsageError(f"{root} is no zoo: it has no {POLICY}; make one with `assay zoo init {root}`")
    return root


def read_scenarios(root: Path) -> dict[str, Scenario]:
    """Every scenario of the zoo by its name. Raises BadPolicy."""
    scenarios = [read(path).validate(Scenario) for path in sorted((root / SCENARIOS).glob("*.toml"))]
    return {scenario.name: scenario for scenario in scenarios}


def data_sets(root: Path) -> tuple[str, ...]:
    """Folders of the zoo with the data on which scenarios have an accuracy computed again, as they name them. Raises BadPolicy."""
    return tuple(sorted({scenario.dataset for scenario in read_scenarios(root).values() if scenario.dataset}))


def submission_folder(root: Path, name: str) -> Path:
    """Where the submission lies. Raises UsageError with the nearest name where there is none."""
    folder = root / SUBMISSIONS / name
    if not folder.is_dir():
        there = sorted(path.name for path in (root / SUBMISSIONS).glob("*") if path.is_dir())
        raise UsageError(f"{folder} is not there{nearest(name, there)}")
    return folder


def name_of(root: Path, folder: Path) -> str:
    """The model that a folder is of: that of a submission carries its name, that of an accepted version lies in it."""
    # Links are not followed: they are a finding of their own.
    here, models = (Path(os.path.normpath(path.absolute())) for path in (folder, root / MODELS))
    return here.parent.name if here.parent.parent == models else here.name
