"""A checkpoint as an ONNX file in the user's cache."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path

from assay.errors import BadModel
from assay.models.cache_eviction import used_now
from assay.models.checkpoints.folder_config import CONFIG, INDEX, WHOLE
from assay.models.checkpoints.source_record import checkpoint_digest, graphs, write_provenance


def is_checkpoint(source: Path) -> bool:
    """Whether it is one that is read as it is."""
    return _is_gguf(source) or _is_folder(source)


def _is_gguf(source: Path) -> bool:
    return source.suffix.lower() == ".gguf"


def _is_folder(source: Path) -> bool:
    """Whether it is a checkpoint of transformers."""
    return (source / CONFIG).is_file() and any((source / name).is_file() for name in (INDEX, WHOLE))


def to_graph(source: Path) -> tuple[Path, str]:
    """The graph, and the digest of the checkpoint. It lies among models that are named by where they come from, and is written once for
    each content and place. Raises BadModel."""
    kind = "gguf" if _is_gguf(source) else "folder"
    try:
        digest = checkpoint_digest(source)
        place = hashlib.sha256(f"{_FORM} {source.resolve()} {digest}".encode()).hexdigest()[:32]
        whole = source.resolve()
        path = graphs() / place / f"{whole.stem if kind == 'gguf' else whole.name}.onnx"
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
    from google.protobuf.message import EncodeError  # type: ignore[import-untyped]

    from assay.models.checkpoints.decoder_graph import decoder_graph
    from assay.models.checkpoints.read_folder import read_folder
    from assay.models.checkpoints.read_gguf import read_gguf

    decoder = read_gguf(source) if kind == "gguf" else read_folder(source)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Another process may write the same graph.
    new = path.with_name(f"{secrets.token_hex(8)}.new")
    try:
        proto = decoder_graph(decoder)
        write_provenance(proto, source, kind, digest)
        onnx.save(proto, new)
        new.replace(path)
    except (EncodeError, ValueError) as error:
        raise BadModel(
            f"{source} does not fit into one ONNX file ({error}): export it to ONNX, and check that file"
        ) from None
    finally:
        new.unlink(missing_ok=True)
