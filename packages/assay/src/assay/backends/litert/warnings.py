"""What LiteRT and its converter warn of: `W0000 00:00:1.2 34 file.cc:12] words` or `WARNING: words` on their output."""

from __future__ import annotations

from assay.backends.warning_rules import reader, rule
from assay.core.native_warning import WarningCode

RULES = (
    rule(None, r"log messages before absl|Created TensorFlow Lite XNNPACK delegate|computation_placer"),
    rule(None, r"model is converted in training mode"),  # of each exported program, which knows no modes
    rule(WarningCode.NODE_ON_CPU, r"(?P<count>\d+) operations? will run on the CPU|not supported by GPU"),
    rule(WarningCode.FALLBACK, r"fall(?:s|ing)? ?back|failed to (?:apply|create) .*delegate"),
    rule(WarningCode.FUSION_SKIPPED, r"(?:cannot|can't|fail\w* to|not) (?:be )?fus"),
    rule(WarningCode.PRECISION_LOST, r"precision|quantiz\w+ .*(?:skip|not)"),
    rule(WarningCode.DEPRECATED, r"deprecated"),
)

read_warnings = reader(r"[WE]\d{4} [\d:.]+ +\d+ \S+:\d+\] |WARNING: ", RULES)
