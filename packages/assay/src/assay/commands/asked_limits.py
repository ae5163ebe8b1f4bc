"""The limits of jobs and what is measured: of assay.toml, as the command line changes it."""

from __future__ import annotations

import msgspec

from assay.config.assay_toml import Config
from assay.core.job import Limits, Measuring
from assay.options.check import CheckOptions


def limits_of(options: CheckOptions, config: Config | None) -> Limits:
    limits = config.limits if config else Limits()
    if options.timeout_s is not None:
        limits = msgspec.structs.replace(limits, timeout_s=options.timeout_s)
    if options.derive_timeout_s is not None:
        limits = msgspec.structs.replace(limits, derive_s=options.derive_timeout_s)
    if options.memory_bytes is not None:
        limits = msgspec.structs.replace(limits, memory_bytes=options.memory_bytes)
    return limits


def measuring_of(options: CheckOptions, config: Config | None) -> Measuring:
    measuring = config.measuring if config else Measuring()
    changes = {
        name: value
        for name, value in (
            ("seconds", options.measure_seconds),
            ("batches", options.measure_batches or None),
            ("threads", options.threads),
        )
        if value is not None
    }
    return msgspec.structs.replace(measuring, **changes)
