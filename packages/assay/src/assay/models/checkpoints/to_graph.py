"""A checkpoint as an ONNX file in the user's cache."""

from __future__ import annotations

import hashlib
from pathlib import Path

from assay.errors import BadModel
from assay.models.cache_eviction import used_now
from assay.models.checkpoints.folder_config import CONFIG
from assay.models.checkpoints.read_folder import INDEX, is_folder, read_folder
from assay.models.checkpoints.read_gguf import is_gguf, read_gguf
from assay.models.files import file_digest, user_cache


def is_checkpoint(source: Path) -> bool:
    """Whether it is one that is read as it is."""
    return is_gguf(source) or is_folder(source)


def to_graph(source: Path) -> tuple[Path, str]:
    """The graph, and the digest of the checkpoint. It lies among models that are named by where they come from, and is written once for
    each content and place. Raises BadModel."""
    kind = "gguf" if is_gguf(source) else "folder"
    try:
        digest = _digest(source)
        place = hashlib.sha256(f"{_FORM} {source.resolve()} {digest}".encode()).hexdigest()[:32]
        path = user_cache() / "sources" / place / f"{source.resolve().stem}.onnx"
        if not path.is_file():
            _write(source, kind, digest, path)
        used_now(path.parent)
    except OSError as error:
        raise BadModel(f"{source} cannot be made into a graph ({error.strerror or error})") from None
    return path, digest


_FORM = "1"
"""Of the graph: another one has another place."""


def _write(source: Path, kind: str, digest: str, path: Path) -> None:
    import onnx

    from assay.models.checkpoints.decoder_graph import decoder_graph
    from assay.models.checkpoints.provenance import write_provenance

    decoder = read_gguf(source) if kind == "gguf" else read_folder(source)
    try:
        proto = decoder_graph(decoder)
    except KeyError as error:
        raise BadModel(f"{source} has no weight {error.args[0]}: it was cut short") from None
    write_provenance(proto, source, kind, digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    onnx.save(proto, new)
    new.replace(path)


def _digest(source: Path) -> str:
    if source.is_file():
        return file_digest(source)
    files = sorted((source / CONFIG, source / INDEX, *source.glob("*.safetensors")))
    told = [(one.name, file_digest(one)) for one in files if one.is_file()]
    return hashlib.sha256(repr(told).encode()).hexdigest()
