"""Data that a user gives: read once, behind the wall, into a folder of the history that is called by its contents."""

from __future__ import annotations

import dataclasses
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Inputs
from assay.core.data import Data
from assay.core.digest import value_digest
from assay.core.golden import IDS, SKETCH
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.errors import BadGolden, UsageError
from assay.judge.words.note_text import note_text
from assay.models.golden_checks import FILES
from assay.models.goldens import read_lock
from assay.pipeline.request import ModelRequest

FOLDER = "data"


def with_prompts(model_request: ModelRequest) -> ModelRequest:
    """A golden that keeps the tokens of prompts alone is data: the reference answers them."""
    if form_of(model_request.inputs.golden) != IDS or (
        model_request.original is not None and model_request.original.path is None
    ):
        return model_request
    return dataclasses.replace(
        model_request,
        inputs=replace(model_request.inputs, golden="", data=Data(model_request.inputs.golden)),
        prompts_of_golden=True,
    )


def check_prompts_of(model_request: ModelRequest, model: Model) -> None:
    """Raises BadGolden where a golden that keeps prompts was recorded for another model: what that answered is not known."""
    if not model_request.prompts_of_golden or model_request.inputs.data is None:
        return
    source = Path(model_request.inputs.data.source)
    if (recorded := read_lock(source).model_digest) != model.digest:
        raise BadGolden(
            f"{source} was recorded for model {recorded[:12]}, but this model is {model.digest[:12]}; it keeps prompts and no answers: run "
            "assay golden update if the change is intended, or judge this model by that one with --reference OLD"
        )


def check_whole(inputs: Inputs, by_flag: Mapping[str, object]) -> None:
    """Raises UsageError where the golden keeps sketches and one of these options, by name, asks for whole answers."""
    option = next((name for name, value in by_flag.items() if value), "")
    if option and form_of(inputs.golden) == SKETCH:
        raise UsageError(note_text(noted(NoteCode.SKETCHES_ARE_NO_ANSWERS, golden=inputs.golden, option=option)))


def form_of(folder: str) -> str:
    """ "" where there is none, or it is broken: whoever reads it says why."""
    try:
        return read_lock(Path(folder)).form if folder else ""
    except BadGolden:
        return ""


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
