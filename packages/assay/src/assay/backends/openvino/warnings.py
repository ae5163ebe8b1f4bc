"""What OpenVINO and its quantizer warn of: `[ WARNING ] words` on their output, and by Python's loggers."""

from __future__ import annotations

from assay.backends.warning_rules import reader, rule
from assay.core.native_warning import WarningCode

RULES = (
    rule(None, r"telemetry|cache dir"),
    rule(WarningCode.NODE_ON_CPU, r"(?:node|operation|subgraph) (?P<node>\S+).* (?:is|was|will be) (?:assigned to|executed on) CPU"),
    rule(WarningCode.FUSION_SKIPPED, r"(?:constant folding|fus\w+).*(?:skip|fail|disabled|not)"),
    rule(WarningCode.PRECISION_LOST, r"(?:convert|cast|truncat)\w* .*(?:to|into) (?:f16|bf16|i32|i8)|precision"),
    rule(WarningCode.FALLBACK, r"fall(?:s|ing)? ?back|rollback to|reference implementation|simple_ref"),
    rule(WarningCode.DEPRECATED, r"deprecated"),
)  # fmt: skip

read_warnings = reader(r"\[ ?WARNING ?\]", RULES)
