"""A GPU of this machine."""

from __future__ import annotations

import msgspec


class Gpu(msgspec.Struct, frozen=True):
    """`visible` is what `CUDA_VISIBLE_DEVICES` calls it (the UUID: an index means another GPU in another order)."""

    name: str
    visible: str
    memory_bytes: int = 0
    driver: str = ""

    def __str__(self) -> str:
        memory = f" {self.memory_bytes / 2**30:.0f} GiB" if self.memory_bytes else ""
        return f"{self.name}{memory}" + (f", driver {self.driver}" if self.driver else "")
