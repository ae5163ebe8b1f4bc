"""Of the jobs of a run, those of one cell are found by their names."""

from __future__ import annotations

from typing import Any

import msgspec

from assay.core.wire import decode_job
from assay.stores.browsing import only_cell
from assay.testing.builders import make_flow, make_job


def _of_cell(jobs: list[Any], case: str, flow: str) -> list[str]:
    return [decode_job(bytes(one)).key for one in only_cell(msgspec.msgpack.encode(jobs), case, flow)]


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
