"""The sentences of why something cannot run here."""

from __future__ import annotations

from assay.core.refusals.availability_codes import AvailabilityCode

AVAILABILITY: dict[str, str] = {
    AvailabilityCode.LIBRARY_NOT_INSTALLED: "{library} is not installed.",
    AvailabilityCode.NO_MODULE: "{library} {version} is installed but has no module {module}.",
    AvailabilityCode.NOT_ANSWERED: "{library} did not answer within {seconds} s of being asked.",
    AvailabilityCode.NOT_IMPORTED: "{library} cannot be imported: {error}",
    AvailabilityCode.NO_CUDA_DEVICE: "no CUDA device: {driver}.",
    AvailabilityCode.NO_CUDA_DEVICE_AND_ENDED: "no CUDA device: {driver}; {library}'s {step} then ended by {ended}.",
    AvailabilityCode.CUDA_DEVICE_NOT_USED: "no CUDA device that {library} {version} can use: its {step} ended by {ended}.{said}",
    AvailabilityCode.DRIVER_LIBRARY_MISSING: "the driver library {file} is not here",
    AvailabilityCode.DRIVER_COUNTS_NONE: "the driver counts no device",
    AvailabilityCode.DRIVER_SAYS: "{error} ({code})",
    AvailabilityCode.DRIVER_NOT_ANSWERED: "the driver did not answer within {seconds} s",
    AvailabilityCode.DRIVER_PROCESS_ENDED: "the process that asked the driver ended by {ended}",
    AvailabilityCode.ENDED_BY: "{ending}",
}
