"""The machine a run happened on."""

from __future__ import annotations

import msgspec


class Machine(msgspec.Struct, frozen=True):
    """What must be equal for two metrics to be comparable, and what helps to read them. The peaks (bytes and floating
    operations per second by number of threads) are known where operators were measured."""

    cpu: str = ""
    cores: int = 0
    memory_bytes: int = 0
    system: str = ""
    python: str = ""
    load_average: float = 0.0
    gpus: tuple[str, ...] = ()
    copy_bytes_per_s: dict[int, float] = {}
    gemm_flops_per_s: dict[int, float] = {}

    @property
    def kind(self) -> str:
        """What must be equal, for people: `AMD EPYC 7543, 2 cores, 24 GiB`."""
        cores = f"{self.cores} core{'s' * (self.cores != 1)}"
        return ", ".join((self.cpu, cores, f"{self.memory_bytes / 2**30:.0f} GiB", *self.gpus))
