"""What was seen of a GPU while something was measured on it."""

from __future__ import annotations

import msgspec

from assay.core.note import Note


class GpuReading(msgspec.Struct, frozen=True):
    """One look by NVML. `reasons` are the bits of its clock event reasons, `sm_share` and `memory_share` (of the time in which
    memory was read or written) 0 to 1, `processes` those that compute on
    the device, this one among them. None: this device, or this driver, does not tell."""

    sm_mhz: int | None = None
    memory_mhz: int | None = None
    reasons: int | None = None
    memory_bytes: int | None = None
    sm_share: float | None = None
    processes: tuple[int, ...] | None = None
    memory_share: float | None = None


class GpuRecord(msgspec.Struct, frozen=True):
    """Of one measurement: `clock` is what its `device_s` were taken by ("" where the device's time is not known). `lost` calls
    are not among its samples, and `discarded` counts them by why they are not (several reasons count each). Clocks are the least
    and the greatest seen, and `reasons` all that moved them, by NVML's names; `memory_bytes` is the most in use on the device, by
    everybody; `sm_share` and
    `memory_share` the mean utilisation; `foreign` the processes of others. `untold` says why nothing was read (None where it
    was)."""

    clock: str = ""
    readings: int = 0
    lost: int = 0
    discarded: dict[str, int] = {}
    sm_mhz: tuple[int, int] | None = None
    memory_mhz: tuple[int, int] | None = None
    reasons: tuple[str, ...] = ()
    memory_bytes: int = 0
    sm_share: float | None = None
    foreign: tuple[int, ...] = ()
    untold: Note | None = None
    memory_share: float | None = None
