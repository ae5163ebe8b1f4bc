"""A benchmark of operators as tables: rates, threads, flows."""

from __future__ import annotations

import errno

from msgspec.structs import replace

from assay.core.engine_info import EngineInfo
from assay.core.measurement import CacheMisses, OperationCount
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.reports.operator_bench import OperatorBench
from assay.testing.builders import MACHINE, make_measurement, make_result, make_run
from assay.testing.standard_run import standard_run

PEAKS = replace(MACHINE, copy_bytes_per_s={1: 1e10, 2: 2e10}, gemm_flops_per_s={1: 1e11, 2: 2e11})


def _result(flow: str, threads: int, median_s: float) -> Result:
    taken = make_measurement(1, median_s=median_s, cold_s=(2 * median_s,) * 5)
    other = make_measurement(1, median_s=3 * median_s, layout="channels-last")
    return make_result(
        "op|case".replace("|", "/"),
        flow,
        "measure",
        measurements=(taken, other),
        facts=EngineInfo(options={"threads": str(threads)}),
        work=OperationCount(1e7, 10**6, 10**5, CacheMisses(errno=errno.ENOENT)),
    )


def test_rates_threads_and_flows_each_have_their_table() -> None:
    results = [_result("a", 1, 1e-3), _result("a-threads2", 2, 0.625e-3), _result("b", 1, 2e-3)]
    text = OperatorBench().render(make_run(machine=PEAKS), results, standard_run()[2])
    assert "Peaks on 2 threads: copy 20 GB/s, product 200 GFLOP/s." in text
    assert "| op/case | a | 2 | × 1.60 | 80 % | × 2.00 | 80 % |" in text
    assert "| op/case | 1 | 1.00 | 2.00 |" in text
    line = next(line for line in text.splitlines() if line.startswith("| op/case | a |"))
    assert line.endswith("| 10 % | × 2.00 | × 3.00 |"), line


def test_flows_without_samples_are_named_with_the_reason() -> None:
    absent = make_result(flow="tvm-cuda", outcome=Outcome.LOWERED, detail="no cuda device on this machine.")
    text = OperatorBench().render(make_run(), [absent, _result("a", 1, 1e-3)], standard_run()[2])
    assert "1 of 2 jobs have no samples." in text
    assert "| tvm-cuda | 1 | lowered | no cuda device on this machine. |" in text


def test_memory_access_is_told_beside_a_copy_and_why_misses_are_not_counted() -> None:
    result = _result("a", 1, 1e-3)
    text = OperatorBench().render(make_run(machine=PEAKS), [result], standard_run()[2])
    assert "| op/case | a | 1.00 MB | 1 | 10 % |  |" in text
    assert "Cache misses are not counted: this processor, or the virtual machine, has no such counter." in text
    counted = replace(result, work=OperationCount(1e7, 10**6, 10**5, CacheMisses(15625.0)))
    assert "| 10 % | 15625 |" in OperatorBench().render(make_run(machine=PEAKS), [counted], standard_run()[2])


def test_calls_that_waited_for_a_core_are_told_with_the_worst() -> None:
    alone = _result("a", 1, 1e-3)
    calm = replace(alone.measurements[0], cpu_s=alone.measurements[0].wall_s)
    waited = replace(calm, cpu_s=tuple(second / 2.5 for second in calm.wall_s))
    results = [replace(alone, measurements=(measurement,)) for measurement in (calm, waited)]
    text = OperatorBench().render(make_run(machine=PEAKS), results, standard_run()[2])
    assert "In 1 of 2 measurements on one thread calls waited: their mean was up to 2.5 times their CPU time" in text
    once = replace(calm, wall_s=(1.0, *calm.wall_s))
    assert "In 1 of 1 " in OperatorBench().render(make_run(), [replace(alone, measurements=(once,))], standard_run()[2])
    assert "waited" not in OperatorBench().render(make_run(machine=PEAKS), results[:1], standard_run()[2])


def test_more_threads_than_cores_do_not_scale_and_that_is_said() -> None:
    results = [_result("a", 1, 1e-3), _result("a-threads2", 2, 1e-3)]
    for cores, said in ((1, True), (2, False)):
        text = OperatorBench().render(make_run(machine=replace(PEAKS, cores=cores)), results, standard_run()[2])
        assert ("These processes may use 1 core: how 2 threads scale cannot be seen here" in text) is said


def test_a_small_share_of_the_roofline_is_not_rounded_to_nothing() -> None:
    slow = _result("a", 1, 0.25)
    text = OperatorBench().render(make_run(machine=PEAKS), [slow], standard_run()[2])
    assert "| 0.04 % |" in text
