"""The codes of why something cannot run here. `assay.judge.refusals.availability_text` makes the sentences."""

from __future__ import annotations

import enum


class AvailabilityCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    LIBRARY_NOT_INSTALLED = "library_not_installed"
    NO_MODULE = "no_module"
    NOT_ANSWERED = "not_answered"
    NOT_IMPORTED = "not_imported"
    NO_CUDA_DEVICE = "no_cuda_device"
    NO_CUDA_DEVICE_AND_ENDED = "no_cuda_device_and_ended"
    CUDA_DEVICE_NOT_USED = "cuda_device_not_used"
    # of those before: what the driver of the GPU says, and how a process ended that asked
    DRIVER_LIBRARY_MISSING = "driver_library_missing"
    DRIVER_COUNTS_NONE = "driver_counts_none"
    DRIVER_SAYS = "driver_says"
    DRIVER_NOT_ANSWERED = "driver_not_answered"
    DRIVER_PROCESS_ENDED = "driver_process_ended"
    ENDED_BY = "ended_by"
