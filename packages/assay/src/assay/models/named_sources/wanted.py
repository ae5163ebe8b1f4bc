"""What is asked for, and how much of it may come in how long."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from assay.errors import BadModel

MOST_BYTES = 20 * 10**9
"""Of one model with its weights. What is larger is put beside the run by whoever has it."""
TIMEOUT_S = 600.0
MOST_NAMES = 10_000
"""Files beside a model of which is asked whether it names them."""


@dataclass
class SourceRequest:
    """`said` is how the user named it. `commit` is found on the way, where there is one."""

    said: str
    commit: str = ""
    size_bytes: int = 0
    until_s: float = field(default_factory=lambda: time.monotonic() + TIMEOUT_S)

    def demand_room(self, size: int) -> None:
        """So many bytes more. Raises BadModel."""
        self.size_bytes += size
        if self.size_bytes > MOST_BYTES:
            raise BadModel(f"{self.said} is larger than {MOST_BYTES / 10**9:g} GB: fetch it by hand, and give the file")

    def left_s(self) -> float:
        """Raises BadModel where nothing is left."""
        left = self.until_s - time.monotonic()
        if left <= 0.0:
            raise self.too_slow()
        return left

    def too_slow(self) -> BadModel:
        """The sentence."""
        return BadModel(f"{self.said} took longer than {TIMEOUT_S:g} s: fetch it by hand, and give the file")


def named_in(model: Path, names: Iterable[str]) -> list[str]:
    """Those of the names, relative to the model's folder, that stand in the ONNX file: it may keep its weights there. Such a file is not
    parsed here, in the driver. Raises BadModel where there are too many to ask."""
    if model.suffix != ".onnx" or not model.stat().st_size:
        return []
    asked = list(islice(names, MOST_NAMES + 1))
    if len(asked) > MOST_NAMES:
        raise BadModel(
            f"more than {MOST_NAMES:,} files lie beside {model.name}, and any may hold its weights: "
            "move it to a folder with its weights alone, or fetch it by hand and give the file"
        )
    with model.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return [name for name in asked if text.find(os.fsencode(name)) >= 0]
