"""Misses of the last cache: a count, or why the kernel gives none."""

from __future__ import annotations

import errno

import pytest

from assay.worker.timing import cache_misses as counting
from assay.worker.timing.cache_misses import CALLS, cache_misses

KNOWN = {
    errno.EACCES, errno.EPERM,  # perf_event_paranoid, a container
    errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV,  # a machine without the counter
    errno.ENOSYS,  # a kernel, or an architecture, without the call
}  # fmt: skip


def test_this_machine_gives_a_count_or_a_known_reason() -> None:
    calls: list[int] = []
    counted = cache_misses(lambda: calls.append(sum(bytearray(1 << 16))))
    if counted.per_call is None:
        assert counted.errno in KNOWN
        assert not calls
    else:
        assert counted.per_call >= 0
        assert counted.errno == 0
        assert len(calls) == CALLS


def test_an_architecture_whose_call_is_not_known_gives_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting.platform, "machine", lambda: "riscv64")
    assert cache_misses(lambda: None).errno == errno.ENOSYS
