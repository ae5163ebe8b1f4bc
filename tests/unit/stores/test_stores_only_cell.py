"""One cell's jobs among those of a run, found by the bytes of its name: as a look at each would find them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from assay.core.wire import decode_job
from assay.stores.dashboard_queries import only_cell
from assay.testing.builders import make_flow, make_job

NAMES = ("a", "aa", "a\xa4", "name", "case", "b", "ü", "operators/conv2d")
JOBS = [{"case": {"name": case}, "flow": {"name": flow}, "kind": "verify"} for case in NAMES for flow in NAMES]


@pytest.mark.parametrize("count", [0, 1, 15, 16, len(JOBS)])
@pytest.mark.parametrize("case", [*NAMES, "nothing", "eb"])
def test_as_a_look_at_each(case: str, count: int) -> None:
    jobs = msgspec.msgpack.encode(JOBS[-count:] if count else [])
    for flow in NAMES:
        payloads = [msgspec.msgpack.decode(raw) for raw in only_cell(jobs, case, flow)]
        among = msgspec.msgpack.decode(jobs)
        assert payloads == [row for row in among if (row["case"]["name"], row["flow"]["name"]) == (case, flow)]


def _of_cell(jobs: list[Any], case: str, flow: str) -> list[str]:
    return [decode_job(bytes(packet)).key for packet in only_cell(msgspec.msgpack.encode(jobs), case, flow)]


def test_a_job_without_a_flow_is_found_by_its_subject() -> None:
    jobs = [make_job("new", kind="verify"), make_job("new", kind="change"), make_job("newer", kind="change")]
    assert _of_cell(jobs, "new", "model-change") == ["new|model-change|change"]
    assert _of_cell(jobs, "new", "onnxruntime") == ["new|onnxruntime|verify"]
    assert _of_cell(jobs, "new", "openvino") == []


def test_one_that_was_written_with_a_flow_is_read_as_before() -> None:
    written = msgspec.to_builtins(make_job("new", kind="change")) | {
        "flow": msgspec.to_builtins(msgspec.structs.replace(make_flow("model-change"), backend=""))
    }
    assert _of_cell([written], "new", "model-change") == ["new|model-change|change"]
