"""A sweep over batch sizes as rows, with the knee named."""

from __future__ import annotations

from assay.core.duel import Duel, Launch
from assay.reports.sweep import KNEE, columns, curve, sweep
from assay.testing.builders import make_measurement, make_result


def test_latency_and_throughput_against_the_batch_size_with_the_knee() -> None:
    taken = tuple(make_measurement(n, median_s=8e-3 + 1e-3 * n) for n in (1, 4, 8, 16, 32))
    header, rows = sweep(make_result(task="measure", measurements=taken))
    assert header[:2] == ("batch", "latency")
    assert [row[0] for row in rows if row[-1] == KNEE] == ["8"]
    assert rows[2][3].endswith("/s")
    found = curve(make_result(task="measure", measurements=taken))
    assert found is not None
    assert found["knee"] == 8


def test_a_duel_shows_its_rival_beside_it() -> None:
    duels = [
        Duel("old", (Launch(0.1, 0, 0, 2),), "thread", 1e-3, 1e-3, batch, own_wall_s=1e-3, rival_wall_s=9e-4)
        for batch in (1, 8)
    ]
    header, rows = sweep(make_result(task="duel", duel=duels[0], more_duels=tuple(duels[1:])))
    assert rows[1] == ["8", "1.00 ms", "8000/s", "0.900 ms", "+10.5 %", ""]
    assert columns(header, rows)[0].startswith("batch  latency")


def test_one_batch_size_is_no_sweep() -> None:
    assert sweep(make_result(task="measure", measurements=(make_measurement(1),))) == ((), [])
