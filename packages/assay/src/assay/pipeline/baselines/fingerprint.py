"""Under what a measurement was taken: where a word of it differs, stored samples say nothing about today's engine."""

from __future__ import annotations

from pathlib import Path

from assay.core.baseline import Fingerprint
from assay.core.case import Case
from assay.core.flow import Flow, device_of
from assay.core.limits import Measuring
from assay.core.machine import Machine

MODE = "CPU time of one call with its inputs in place, engines loaded again for each launch and called in turns (3)"
"""The number goes up when the way of measuring changes: older samples are then no longer comparable."""
DEVICE_MODE = f"{MODE}; by the device's own time, or the caller's (1)"
_FREQUENCY = Path("/sys/devices/system/cpu/cpu0/cpufreq")
_GB = 2**30


def fingerprint(machine: Machine, case: Case, flow: Flow, measuring: Measuring) -> Fingerprint:
    """Of a measurement on this machine. The driver is a GPU's, with the GPU; "" for flows of the CPU."""
    return Fingerprint(
        machine=f"{machine.cpu}, {machine.cores} cores, {round(machine.memory_bytes / _GB)} GB",
        driver="" if flow.device == "cpu" else "; ".join(machine.gpus),
        clocks=clocks(),
        threads=int(flow.options.get("threads", measuring.threads)),
        batch=measuring.batches[0] if measuring.batches else case.inputs.batch,
        mode=MODE if device_of(flow) == "cpu" else DEVICE_MODE,
    )


def differs(then: Fingerprint, now: Fingerprint) -> str:
    """What is not as it was, in words; "" where all is."""
    for name in Fingerprint.__struct_fields__:
        was, this = getattr(then, name), getattr(now, name)
        if was != this:
            return (
                f"the {name} {'was' if name[-1] != 's' else 'were'} {was or 'unknown'} and now is {this or 'unknown'}"
            )
    return ""


def clocks(folder: Path = _FREQUENCY) -> str:
    """`performance, 800000 to 3500000 kHz`; "" on a virtual machine, which shows no frequency."""
    try:
        words = [(folder / f"scaling_{name}").read_text().strip() for name in ("governor", "min_freq", "max_freq")]
    except OSError:
        return ""
    return f"{words[0]}, {words[1]} to {words[2]} kHz"
