"""Models that a user names by where they come from: files, before anything else is done, and what one of them is compared with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.core.run import ModelSource
from assay.errors import UsageError, each
from assay.models.checkpoints.to_graph import is_checkpoint, to_graph
from assay.models.files import check_model_file
from assay.models.named_sources import Fetch, is_named, path_in_repository, to_file
from assay.models.named_sources.wanted import SourceRequest
from assay.models.sources import is_factory
from assay.pipeline.references.originals import OriginalRequest
from assay.pipeline.request import ModelRequest, Request

MINED = "mined:"
"""Before the models of a suite that is made of them."""


class NamedModels:
    """`found` are those that were asked for, each once."""

    def __init__(self) -> None:
        self._found: dict[str, ModelSource] = {}

    @property
    def found(self) -> tuple[ModelSource, ...]:
        return tuple(self._found.values())

    def local(self, model: Path) -> Path:
        """The file of a model; what is a file, or a factory, stays as it is, and a checkpoint becomes a graph. Raises BadModel."""
        file = model
        if is_named(model):
            if str(model) not in self._found:
                self._found[str(model)] = to_file(model, _others())
            file = Path(self._found[str(model)].path)
        if not is_checkpoint(file):
            return file
        graph, digest = to_graph(file)
        self._found.setdefault(str(model), ModelSource(str(model), str(file), digest))
        return graph


def with_files(request: Request) -> Request:
    """Every model of it, and every reference, is a file. A revision of a file that is given, too, is what that file is compared with.
    Raises BadModel, and UsageError where it cannot be that."""
    named = NamedModels()
    models = each(_with_references(request.models), lambda model: _with_file(model, named))
    return replace(request, models=tuple(models), sources=named.found)


def _with_file(model_request: ModelRequest, named: NamedModels) -> ModelRequest:
    original = model_request.original
    if original is not None and original.path is not None:
        original = replace(original, path=named.local(original.path))
    path = named.local(model_request.path)
    if not is_factory(path):
        check_model_file(path)
    return replace(model_request, path=path, original=original)


def _with_references(models: Sequence[ModelRequest]) -> list[ModelRequest]:
    plain = {os.path.normpath(model.path): model for model in models if not is_named(model.path)}
    earlier: dict[str, Path] = {}
    left = []
    for model in models:
        name = os.path.normpath(path_in_repository(model.path) or os.sep)
        if name not in plain:
            left.append(model)
        elif name in earlier:
            raise UsageError(f"two revisions of {name} are given to compare it with: leave one of them out")
        elif plain[name].original is not None:
            raise UsageError(f"{name} has a reference already: leave that out, or {model.path}")
        else:
            earlier[name] = model.path
    return [
        replace(model_request, original=OriginalRequest(path=earlier[name]))
        if (name := os.path.normpath(model_request.path)) in earlier
        else model_request
        for model_request in left
    ]


def _others() -> dict[str, Fetch]:
    """What needs a client of its own is loaded when it is asked for."""

    def from_bucket(request: SourceRequest, into: Path) -> Path:
        from assay.stores.object_source import from_bucket

        return from_bucket(request, into)

    return {"s3": from_bucket}
