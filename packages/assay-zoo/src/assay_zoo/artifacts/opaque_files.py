"""Files of kinds that nothing here looks into, which would be published unseen: a person sees what they are for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.finding import Finding

_SHOWN = (
    ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".pnm", ".wav", ".flac", ".ogg", ".oga", ".opus",
    ".mp3", ".m4a", ".mp4", ".mov", ".mkv", ".webm", ".npy", ".npz", ".pb", ".safetensors", ".py", ".ipynb",
)  # fmt: skip
"""Pictures, sounds, arrays and code. What is read as a page, a table or a model is known beside."""


_TEXTS = re.compile(
    r"readme|licen[cs]es?|copying|notices?|authors|contributors|contributing|maintainers|codeowners|changelog|changes|history|news|citation"
    r"|version|todo|thanks|credits|acknowledge?ments|labels|classes|vocab\w*|\.gitignore|\.gitattributes|\.gitkeep|\.editorconfig"
    r"|\.zenodo\.json",
    re.IGNORECASE,
)
"""Names without a suffix that people write for people. Others are for a program that looks for just that name."""
_PATTERN = re.compile(r"\*\.(?:json|yaml|yml|toml)")


def opaque_files(
    folder: Path, looked_into: Collection[str], external: Collection[str], read: Mapping[str, SourceText]
) -> Iterator[Finding]:
    """`looked_into` are read by other checks, `external` hold data of the model; what a script or notebook hands to a call, that reads.
    A name without a suffix, or one that begins with a point, some program looks for, whatever is known of its text."""
    handed = {PurePosixPath(text).name for source in read.values() for text in source.handed}
    patterns = list(filter(_PATTERN.fullmatch, handed))
    for file in sorted(folder.rglob("*")):
        relative = file.relative_to(folder)
        path, is_text = relative.as_posix(), _TEXTS.fullmatch(file.name) is not None
        known = path in looked_into or file.suffix.lower() in _SHOWN
        hidden = any(part.startswith(".") for part in relative.parts) or not file.suffix
        named = file.name in handed or any(fnmatchcase(file.name, pattern) for pattern in patterns)
        if file.is_file() and not (named or path in external or (known and (is_text or not hidden))):
            reason = "nothing here looks into, and no script or notebook hands its name to a call"
            sentence = f"{path} is of a kind that {reason}: leave it out, or a person looks"
            yield Finding(sentence=sentence, path=path, certain=False)
