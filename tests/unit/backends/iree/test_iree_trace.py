"""What IREE's tool exports, as a timeline."""

from __future__ import annotations

import json

from assay.backends.iree.trace import timeline
from assay.worker.timing.traces import what_is_wrong


def _row(start_ns: int, duration_ns: int, **more: object) -> dict[str, object]:
    known = {"record_type": "host_execution_event", "valid": True, "physical_device_ordinal": 0, "queue_ordinal": 0}
    return {**known, "start_host_time_ns": start_ns, "duration_ns": duration_ns, "op": "execute", "key": None, **more}


def test_what_the_host_ran_begins_at_zero_under_the_name_of_its_dispatch() -> None:
    rows = [
        {"record_type": "session"},
        {"record_type": "queue_event", "host_time_ns": 1},
        _row(52_000_000_500, 22_562),
        _row(52_000_001_500, 8_310, op="dispatch", key="g_dispatch_0_matmul", workgroup_count=[2, 1, 1]),
        _row(1, 1, valid=False),
    ]
    made = json.dumps(timeline(rows))
    assert not what_is_wrong(made.encode())
    events = [(event["name"], event["ts"], event["dur"]) for event in json.loads(made)["traceEvents"]]
    assert events == [("execute", 0.0, 22.562), ("g_dispatch_0_matmul", 1.0, 8.31)]
    assert json.loads(made)["traceEvents"][1]["args"]["workgroups"] == "2x1x1"
