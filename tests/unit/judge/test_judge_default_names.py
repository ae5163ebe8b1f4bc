"""What the verdict on a mismatch says of what a backend does unasked."""

from __future__ import annotations

import pytest

from assay.core.engine_info import EngineInfo, NumericDefault
from assay.judge.words.default_names import named


def _grouped(cures: bool | None) -> NumericDefault:
    return NumericDefault("GROUP_SIZE", "32", "dynamic-quantization", "GROUP_SIZE", 0, cures)


def _winograd(cures: bool | None) -> NumericDefault:
    return NumericDefault("winograd", "true", "winograd", "winograd", False, cures)


DENORMALS = NumericDefault("DENORMALS", "true", "denormals")


@pytest.mark.parametrize(
    ("defaults", "text"),
    [
        ((), ""),
        ((_grouped(False), _winograd(False)), ""),
        (
            (_grouped(True), _winograd(False)),
            "; its cause: by default the backend quantizes activations to eight bits while it runs (GROUP_SIZE=32); with "
            "`--option GROUP_SIZE=0` the answers are right",
        ),
        (
            (_grouped(True), _winograd(True), DENORMALS),
            "; its cause: by default the backend quantizes activations to eight bits while it runs (GROUP_SIZE=32) and computes "
            "convolutions by Winograd's transforms (winograd=true); with `--option GROUP_SIZE=0 --option winograd=false` the answers "
            "are right",
        ),
        (
            (_winograd(None), DENORMALS),
            "; by default the backend computes convolutions by Winograd's transforms (winograd=true) and takes numbers below the "
            "normal ones of their type for zero (DENORMALS=true): try `--option winograd=false`",
        ),
    ],
)
def test_the_cause_is_named_with_the_option_against_it(defaults: tuple[NumericDefault, ...], text: str) -> None:
    assert named(EngineInfo(numeric_defaults=defaults)) == text
