"""The machine a run happened on."""

from __future__ import annotations

import msgspec


class Machine(msgspec.Struct, frozen=True):
    """What must be equal for two figures to be comparable, and what helps to read them."""

    cpu: str = ""
    cores: int = 0
    memory_bytes: int = 0
    system: str = ""
    python: str = ""
    load_average: float = 0.0
    gpus: tuple[str, ...] = ()
