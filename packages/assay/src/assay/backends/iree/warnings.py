"""What IREE's compiler warns of: `file:line:column: warning: words` on its output."""

from __future__ import annotations

from assay.backends.warning_rules import reader, rule
from assay.core.native_warning import WarningCode

RULES = (
    rule(None, r"overriding the module target triple|generic.* target|no target.*(?:cpu|features)"),
    rule(WarningCode.FUSION_SKIPPED, r"skipping consteval initializer"),
    rule(WarningCode.PRECISION_LOST, r"input-demote-\S+\) changed public function signatures"),
    rule(WarningCode.FUSION_SKIPPED, r"(?:cannot|can't|fail\w* to|not) (?:be )?fus"),
    rule(WarningCode.FALLBACK, r"fall(?:s|ing)? ?back"),
    rule(WarningCode.PRECISION_LOST, r"demot\w+|truncat\w+|precision"),
    rule(WarningCode.DEPRECATED, r"deprecated"),
)

read_warnings = reader(r"(?:\S+: )?(?:warning|WARNING): ", RULES)
