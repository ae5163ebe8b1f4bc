"""One cell's jobs among those of a run, found by the bytes of its name: as a look at each would find them."""

from __future__ import annotations

import msgspec
import pytest

from assay.stores.browsing import only_cell

NAMES = ("a", "aa", "a\xa4", "name", "case", "b", "ü", "operators/conv2d")
JOBS = [{"case": {"name": case}, "flow": {"name": flow}, "kind": "verify"} for case in NAMES for flow in NAMES]


@pytest.mark.parametrize("count", [0, 1, 15, 16, len(JOBS)])
@pytest.mark.parametrize("case", [*NAMES, "nothing", "eb"])
def test_as_a_look_at_each(case: str, count: int) -> None:
    jobs = msgspec.msgpack.encode(JOBS[-count:] if count else [])
    for flow in NAMES:
        found = [msgspec.msgpack.decode(raw) for raw in only_cell(jobs, case, flow)]
        among = msgspec.msgpack.decode(jobs)
        assert found == [one for one in among if (one["case"]["name"], one["flow"]["name"]) == (case, flow)]
