"""What may be given as a model: an ONNX file, an exported program (`.pt2`), or a factory (`package.module:factory`)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import BadModel, Lowering
from assay.models.files import check_model_file, file_digest

_FACTORY = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_FILE_OF_FACTORY = re.compile(r"(?P<file>.+)\.py:(?P<name>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)", re.IGNORECASE)
_PICKLES = (".pt", ".pth", ".pkl", ".ckpt")


def is_factory(source: str | Path) -> bool:
    """Whether it is written `package.module:factory` and no file has that name."""
    return _FACTORY.fullmatch(str(source)) is not None and not Path(source).exists()


def is_program(source: str | Path) -> bool:
    """Whether it is an exported program, by its suffix."""
    return Path(source).suffix.lower() == ".pt2" and not is_factory(source)


def source_name(source: Path) -> str:
    """What a case with that model is called: the file's name without suffix, a factory as it is written."""
    return str(source) if is_factory(source) else source.stem


def check_source(source: Path) -> None:
    """Raise `BadModel` for what cannot be a model, without opening it: safe in the driver. A factory is called in a
    worker only."""
    if (written := _FILE_OF_FACTORY.fullmatch(str(source))) and not source.exists():
        raise _named_by_file(str(source), Path(written["file"]), written["name"])
    if is_factory(source):
        return
    check_model_file(source)
    if source.suffix.lower() in _PICKLES:
        raise BadModel(noted(ModelCode.SOURCE_PICKLE, source=str(source)))


def _named_by_file(source: str, module: Path, name: str) -> BadModel:
    """`module` is the file without its suffix. A module is found from the working folder, and each folder on the way is a part of its
    name."""
    if not module.name.isidentifier():
        return BadModel(noted(ModelCode.FACTORY_FILE_NO_NAME, source=source, file=f"{module.name}.py"))
    parts = Path(os.path.relpath(module)).parts
    if all(part.isidentifier() for part in parts):
        return BadModel(noted(ModelCode.FACTORY_BY_FILE, source=source, factory=f"{'.'.join(parts)}:{name}"))
    factory = f"{module.name}:{name}"
    return BadModel(noted(ModelCode.FACTORY_IN_FOLDER, source=source, folder=str(module.parent), factory=factory))


def open_source(source: Path) -> Model:
    """The digest, format and signature of a model. For worker processes only: it parses the file, or runs the factory.

    Raises `BadModel` with one sentence.
    """
    check_source(source)
    if not (is_factory(source) or is_program(source)):
        from assay.models.onnx_file import open_model

        return open_model(source)
    try:
        return _torch_model(source)
    except Lowering as error:
        named = error.note is not None and error.note.facts.get("file") == str(source)
        raise BadModel(
            error.reason if named else noted(NoteCode.FAILED_IN, place=str(source), error=error.reason)
        ) from error


def _torch_model(source: Path) -> Model:
    from assay.models.program import open_program, program_digest
    from assay.models.sources_factory import build_program

    program = build_program(str(source)) if is_factory(source) else open_program(source)
    weights = program.exported.state_dict.values()
    size = (
        sum(weight.numel() * weight.element_size() for weight in weights)
        if is_factory(source)
        else source.stat().st_size
    )
    return Model(
        name=source_name(source),
        source=str(source),
        digest=program_digest(program),
        inputs=program.inputs,
        outputs=program.outputs,
        format="torch",
        size_bytes=size,
        nodes=sum(node.op == "call_function" for node in program.exported.graph.nodes),
        files={} if is_factory(source) else {str(source): file_digest(source)},
    )
