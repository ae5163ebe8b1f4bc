"""Files of kinds that nothing here looks into, which would be published unseen: a person sees what they are for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.sources import SourceText

_SHOWN = (
    ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".pnm", ".wav", ".flac", ".ogg", ".oga", ".opus",
    ".mp3", ".m4a", ".mp4", ".mov", ".mkv", ".webm", ".npy", ".npz", ".pb", ".safetensors", ".py", ".ipynb", ".toml", ".json", ".jsonl",
    ".ndjson", ".yaml", ".yml", ".bib", ".log", ".names", ".labels", ".vocab", ".merges", ".bpe", ".tokens", ".pbtxt", ".prototxt",
    ".license",
)  # fmt: skip
"""Pictures, sounds, arrays, and texts that nothing runs. What is read as a page, a table or a model is known beside."""


def opaque_files(
    folder: Path, looked_into: Collection[str], external: Collection[str], read: Mapping[str, SourceText]
) -> Iterator[Finding]:
    """`looked_into` are read by other checks, `external` hold data of the model; what a script or notebook hands to a call, that reads."""
    named = {PurePosixPath(text).name for source in read.values() for text in source.handed}
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        known = path in looked_into or path in external or file.suffix.lower() in _SHOWN or file.name in named
        if file.is_file() and not known:
            reason = "nothing here looks into, and no script or notebook hands its name to a call"
            sentence = f"{path} is of a kind that {reason}: leave it out, or a person looks"
            yield Finding(sentence=sentence, path=path, certain=False)
