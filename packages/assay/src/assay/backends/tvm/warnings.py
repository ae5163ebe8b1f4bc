"""What TVM warns of: `[12:00:00] path/file.cc:12: Warning: words` on its output, and by Python's `warnings`."""

from __future__ import annotations

from assay.backends.warning_rules import reader, rule
from assay.core.native_warning import WarningCode

RULES = (
    rule(WarningCode.FALLBACK, r"record is not found for primfunc: (?P<node>\S+)"),
    rule(WarningCode.FALLBACK, r"(?:have|has) not been tuned|fallback config|fall(?:s|ing)? ?back"),
    rule(WarningCode.FUSION_SKIPPED, r"(?:cannot|can't|fail\w* to|not) (?:be )?fus"),
    rule(WarningCode.PRECISION_LOST, r"\b(?:int64|float64|float32)\b.*\b(?:cast|convert|narrow)\w*|precision"),
    rule(WarningCode.DEPRECATED, r"deprecated"),
)

read_warnings = reader(r"\[[\d:]+\] \S+:\d+: Warning:", RULES)
