"""The table of flows is readable at 80 and at 200 columns, and says every reason once."""

from __future__ import annotations

import pytest

from assay.commands.flow_table import FlowLine, Group, flow_table, shortened
from assay.commands.trials import Trial
from assay.core.flow import Flow
from assay.ports import Availability

HERE = Availability(available=True, version="1.2")
GONE = Availability(available=False, reason="vendor-library is not installed.", install="pip install 'assay[vendor]'")
OTHER = Availability(
    available=False,
    reason="the transform int8 needs a package that is not installed in this interpreter, and says so at length",
    install="pip install calibrator",
)

GROUPS = [
    Group(
        "mixed",
        (
            FlowLine(Flow("mixed", "mixed"), HERE, Trial("ok")),
            FlowLine(Flow("mixed-opencl", "mixed"), HERE, Trial("lowered", "no runtime for opencl.")),
            FlowLine(Flow("mixed-vm", "mixed"), HERE, Trial("ok", "error: too much memory", fixed=True)),
            FlowLine(Flow("mixed-fp16", "mixed"), HERE, Trial("other_precision", "nothing computes in float16")),
            FlowLine(Flow("mixed-int8-per-channel", "mixed", precision="int8"), OTHER),
            FlowLine(Flow("mixed-cuda", "mixed", device="cuda", environment="own"), HERE),
        ),
    ),
    Group("vendor", (FlowLine(Flow("vendor-a", "vendor"), GONE), FlowLine(Flow("vendor-b", "vendor"), GONE))),
    Group("strange", (), "backend 'strange' of a-package is broken (KeyError: 'x'); reinstall or remove it"),
]

WIDE = """\
mixed 1.2
  ok mixed                   float32
  x  mixed-opencl            float32
     compiles, cannot run here: no runtime for opencl
  ok mixed-vm                float32  fixed sizes only
     with a free batch: error: too much memory
  x  mixed-fp16              float32
     other precision: nothing computes in float16
  -  mixed-int8-per-channel  int8
     not here: the transform int8 needs a package that is not installed in this interpreter, and says so at length; pip install calibrator
  ?  mixed-cuda              float32  cuda  in own

vendor
     not here: vendor-library is not installed; pip install 'assay[vendor]'
  -  vendor-a                float32
  -  vendor-b                float32

strange
     broken: backend 'strange' of a-package is broken (KeyError: 'x'); reinstall or remove it

2 of 8 flows run here (a tiny model passed, 1 of them with fixed sizes only); 2 do not, though installed (x); \
1 were not tried (?); assay doctor FLOW explains one
other precision: choose a flow, a device or a model whose operators have kernels in that type, or call the flow what it is
"""


def test_the_whole_table_at_200_columns() -> None:
    assert flow_table(GROUPS, 200) == WIDE


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(width: int) -> None:
    table = flow_table(GROUPS, width)
    assert max(map(len, table.splitlines())) <= width
    assert table.split() == WIDE.split()


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("ends with a point.", "ends with a point"),
        (
            "the engine lives elsewhere (first-package==1.4.1, second-package==2.13.0), which is not built",
            "the engine lives elsewhere, which is not built",
        ),
        (
            "no device: NOT_FOUND; the loader is not found; make sure that it is",
            "no device: NOT_FOUND; the loader is not found",
        ),
        (
            "one two three four five six seven eight nine ten eleven twelve",
            "one two three four five six seven eight nine ...",
        ),
    ],
)
def test_a_long_reason_loses_remarks_then_clauses_then_words_and_never_half_a_word(text: str, short: str) -> None:
    assert shortened(text, 50) == short
