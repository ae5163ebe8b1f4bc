"""Which files a submission must have, and which of them are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay_zoo.artifacts.finding import Finding
from assay_zoo.metadata import Metadata
from assay_zoo.submission import SubmissionContext
from assay_zoo.zoo_files import METADATA

_WHAT = {
    "model": "the model",
    "preprocessing": "the script that makes the inputs",
    "postprocessing": "the script that reads the outputs",
    "inference": "the notebook that shows how the model is used",
    "validation": "the notebook that computes the metric and the accuracy",
}


_MODELS = (
    ".onnx", ".ort", ".tflite", ".h5", ".hdf5", ".gguf", ".ggml", ".engine", ".plan", ".trt", ".mlmodel", ".caffemodel", ".mnn", ".uff",
    ".pdmodel", ".rknn", ".xmodel", ".espdl",
)  # fmt: skip


def missing_files(place: SubmissionContext) -> Iterator[Finding]:
    """One for each file that is not there. Without metadata the usual names are looked for."""
    for path, what in (
        (METADATA, "what the model claims"),
        ("README.md", "`assay zoo readme` writes it from metadata.toml"),
    ):
        if not (place.folder / path).is_file():
            yield _missing(place, path, what)
    for key, what in _WHAT.items():
        default = Metadata.model_fields[key].default
        path = getattr(place.metadata, key) if place.metadata else default
        if not _inside(place.folder, path):
            yield _missing(place, path, what)


def other_models(place: SubmissionContext) -> Iterator[Finding]:
    """What would be published as a model, and is examined and run by nothing here."""
    if place.metadata is None:
        return
    for file in sorted(place.folder.rglob("*")):
        path = file.relative_to(place.folder).as_posix()
        if file.suffix.lower() in _MODELS and path != place.metadata.model and file.is_file():
            sentence = f"{path} is a model beside {place.metadata.model}, which alone is examined: leave it out, or a person looks"
            yield Finding(sentence=sentence, path=path, certain=False)


def _inside(folder: Path, path: str) -> bool:
    file = folder / path
    return file.resolve().is_relative_to(folder.resolve()) and file.is_file()


def _missing(place: SubmissionContext, path: str, what: str) -> Finding:
    refused = place.intake.entries if place.intake else ()
    why = next(
        (f"was not taken, it {entry.detail}" for entry in refused if entry.path == path and entry.problem), "is missing"
    )
    return Finding(sentence=f"{path} {why}: {what}", path=path)


def python_files(folder: Path) -> list[str]:
    """Every script and notebook, by its path in the submission."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in (".py", ".ipynb") and path.is_file()
    )
