"""Data that a user gives: read once, behind the wall, into a folder of the history that is called by its contents."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Inputs
from assay.core.digest import value_digest
from assay.models.golden_checks import FILES
from assay.models.goldens import read_lock

FOLDER = "data"


def staging_folder(inputs: Inputs, history: Path) -> str:
    """Where the worker writes what it reads; "" where nothing is to be read."""
    return str((history / FOLDER / f".{uuid.uuid4().hex}").absolute()) if inputs.data is not None else ""


def put_in_place(inputs: Inputs, staging: str, history: Path) -> Inputs:
    """The inputs with their folder: a golden where outputs came with them, inputs that are yet to be answered else. The same
    data of the same model are one folder, whenever and wherever they are read."""
    if inputs.data is None:
        return inputs
    lock = read_lock(Path(staging))
    content = (lock.model_digest, [(file.path, file.sha256) for file in lock.files], lock.state, lock.sequences)
    folder = history / FOLDER / value_digest(content)[:32]
    if folder.exists():
        shutil.rmtree(staging)
    else:
        Path(staging).rename(folder)
    answered = any(file.path == FILES["output"] for file in lock.files)
    place = str(folder)
    return replace(
        inputs, data=None, samples=lock.samples, golden=place if answered else "", given="" if answered else place
    )
