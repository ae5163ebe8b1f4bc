"""Calls on a GPU that was held back, or shared, do not count, and are counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.gpu import GpuReading
from assay.stats.gpu_blocks import REASONS, SHARED, THROTTLED, Block, own_processes, reasons_of, valid_blocks

OWN = frozenset({7})
QUIET = GpuReading(1980, 3201, 0x1, 2**30, 0.0, (7,))


def block(before: GpuReading = QUIET, after: GpuReading = QUIET, *, calls: int = 3, seconds: float = 1e-3) -> Block:
    return Block((seconds,) * calls, seconds, (0.9 * seconds,) * calls, before, after)


def reading(**changed: object) -> GpuReading:
    return GpuReading(**{name: getattr(QUIET, name) for name in QUIET.__struct_fields__} | changed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        (0x0, ()),
        (0x1, ("gpu_idle",)),
        (0x4, ("sw_power_cap",)),
        (0x48, ("hw_slowdown", "hw_thermal_slowdown")),
        (0x8000, ("unknown_0x8000",)),
        (0x1021, ("gpu_idle", "sw_thermal_slowdown", "unknown_0x1000")),
    ],
)
def test_bits_have_the_names_of_nvml(bits: int, names: tuple[str, ...]) -> None:
    assert reasons_of(bits) == names


def test_the_bits_are_those_of_the_binding() -> None:
    nvml = pytest.importorskip("pynvml")
    theirs = {
        "gpu_idle": "GpuIdle", "applications_clocks_setting": "ApplicationsClocksSetting", "sw_power_cap": "SwPowerCap",
        "hw_slowdown": "HwSlowdown", "sync_boost": "SyncBoost", "sw_thermal_slowdown": "SwThermalSlowdown",
        "hw_thermal_slowdown": "HwThermalSlowdown", "hw_power_brake_slowdown": "HwPowerBrakeSlowdown",
        "display_clock_setting": "DisplayClockSetting",
    }  # fmt: skip
    assert {getattr(nvml, f"nvmlClocksEventReason{theirs[name]}"): name for name in theirs} == REASONS
    assert sum(REASONS) == nvml.nvmlClocksEventReasonAll


@pytest.mark.parametrize("bit", REASONS)
def test_only_what_slows_down_discards(bit: int) -> None:
    valid = valid_blocks([block(), block(after=reading(reasons=bit))], OWN)
    slows = bool(bit & THROTTLED)
    assert slows == (
        REASONS[bit] not in ("gpu_idle", "applications_clocks_setting", "sync_boost", "display_clock_setting")
    )
    assert len(valid.wall_s) == len(valid.device_s) == (3 if slows else 6)
    assert valid.record.lost == (3 if slows else 0)
    assert valid.record.discarded == ({REASONS[bit]: 3} if slows else {})
    assert REASONS[bit] in valid.record.reasons


def test_a_reading_between_two_blocks_is_of_both() -> None:
    hot = reading(reasons=0x40)
    valid = valid_blocks([block(after=hot, seconds=1.0), block(before=hot, seconds=2.0), block(seconds=3.0)], OWN)
    assert valid.wall_s == (3.0,) * 3
    assert valid.cpu_s == (3.0,)
    assert valid.record.discarded == {"hw_thermal_slowdown": 6}
    assert valid.record.lost == 6


def test_somebody_else_on_the_device() -> None:
    shared = reading(processes=(7, 99))
    both = reading(processes=(7, 99), reasons=0x24)
    valid = valid_blocks([block(before=shared), block(after=both), block()], OWN)
    assert valid.record.discarded == {SHARED: 6, "sw_power_cap": 3, "sw_thermal_slowdown": 3}
    assert valid.record.lost == 6
    assert valid.record.foreign == (99,)
    assert len(valid.wall_s) == 3


def test_what_the_device_does_not_tell_discards_nothing() -> None:
    valid = valid_blocks([block(GpuReading(), GpuReading())], OWN, clock="cuda events")
    assert len(valid.wall_s) == 3
    record = valid.record
    assert (record.lost, record.discarded, record.sm_mhz, record.sm_share) == (0, {}, None, None)
    assert (record.clock, record.readings) == ("cuda events", 2)


def test_clocks_memory_and_use_are_summed_up() -> None:
    valid = valid_blocks([block(after=reading(sm_mhz=1500, memory_bytes=2**31, sm_share=0.5))], OWN)
    assert valid.record.sm_mhz == (1500, 1980)
    assert valid.record.memory_mhz == (3201, 3201)
    assert valid.record.memory_bytes == 2**31
    assert valid.record.sm_share == 0.25


@pytest.mark.parametrize(
    ("before", "now", "own"),
    [
        ((), (7,), {7}),
        ((99,), (7, 99), {7}),
        ((99,), (99, 4711), {4711}),  # a container: NVML tells the host's numbers
        ((99,), (99,), set()),
        (None, None, set()),
    ],
)
def test_which_process_is_this_one(before: tuple[int, ...] | None, now: tuple[int, ...] | None, own: set[int]) -> None:
    assert own_processes(7, reading(processes=before), reading(processes=now)) == own


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 0x7FF), st.sets(st.integers(7, 9))), min_size=1, max_size=8)
)
def test_every_call_is_kept_or_lost(rows: list[tuple[int, int, set[int]]]) -> None:
    blocks = [
        block(after=reading(reasons=bits, processes=tuple(processes)), calls=calls) for calls, bits, processes in rows
    ]
    valid = valid_blocks(blocks, OWN)
    assert len(valid.wall_s) + valid.record.lost == sum(calls for calls, _, _ in rows)
    assert len(valid.wall_s) == len(valid.device_s)
    worst = max(valid.record.discarded.values(), default=0)
    assert worst <= valid.record.lost <= sum(valid.record.discarded.values())
