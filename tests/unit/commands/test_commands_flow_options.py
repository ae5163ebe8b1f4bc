"""Options of a flow as a user spells them, and what they take from the flow."""

from __future__ import annotations

import pytest

from assay.commands.run import find_flows
from assay.core.flow import Option


@pytest.mark.parametrize(("name", "allowance"), [("mnn-f32", "winograd-8x8"), ("ncnn-f32", "winograd")])
def test_an_allowance_falls_with_the_option_that_it_is_for(name: str, allowance: str) -> None:
    def allowances(**options: Option) -> tuple[str, ...]:
        (flow,) = find_flows([name], options)
        return flow.allowances

    assert allowances() == allowances(threads="2") == allowances(threads=2) == allowances(winograd="true")
    assert allowance in allowances()
    assert (
        allowances(winograd="false")
        == allowances(winograd=False)
        == tuple(text for text in allowances() if text != allowance)
    )


def test_an_allowance_for_something_else_stays() -> None:
    (flow,) = find_flows(["openvino-f32"], {"threads": "1"})
    assert flow.allowances == ("double-in-float32", "ties-after-zero-point")
