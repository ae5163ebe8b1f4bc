"""What torch, its compiler and ExecuTorch warn of: by their loggers (`W1126 04:47:16.557000 14666 torch/x.py:630] words`) and by
Python's `warnings`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from assay.backends.warning_rules import reader, rule
from assay.core.native_warning import WarningCode

RULES = (
    # torch's own way of compiling, which no model changes.
    rule(None, r"register_constant\(\)|is deprecated and will be (?:an error|removed)|torchao|Redirects are currently not supported"),
    rule(None, r"given (?:buffer|NumPy array) is not writ"),  # how it reads the weights of a saved program
    rule(WarningCode.FALLBACK, r"does not support code generation for (?P<node>[^.]*)"),
    rule(WarningCode.FALLBACK, r"make_fallback\((?P<node>[^)]*)\)|using (?P<kernel>\w+) fallback"),
    rule(WarningCode.FALLBACK, r"Node (?P<node>\S+) with op \S+ was not decomposed or delegated"),
    rule(WarningCode.FALLBACK, r"graph break|fall(?:s|ing)? ?back|falling back to eager|fallback kernel"),
    # ExecuTorch keeps no value of a buffer that the graph changes: the model begins with anything.
    rule(WarningCode.INITIALIZER_DROPPED, r"only the shape and dtype will be serialized"),
    rule(WarningCode.NODE_ON_CPU, r"skipping cudagraphs|copied? to (?:the )?cpu|runs? on (?:the )?cpu"),
    rule(WarningCode.FUSION_SKIPPED, r"Not fusing \S+ for node '(?P<node>[^']*)'"),
    rule(WarningCode.FUSION_SKIPPED, r"(?:cannot|can't|unable to|not|skip\w*) (?:fus|constant propagat)"),
    rule(WarningCode.FUSION_SKIPPED, r"Not enough SMs to use (?P<node>\w+)"),
    rule(WarningCode.OTHER, r"TensorFloat32 .*available but not enabled"),
    rule(WarningCode.PRECISION_LOST, r"must run observer before calling calculate_qparams"),
    rule(WarningCode.PRECISION_LOST, r"TensorFloat32|reduced precision|loss of precision|lose precision|truncat\w+ (?:to )?int"),
    rule(WarningCode.DEPRECATED, r"deprecated"),
)  # fmt: skip

read_warnings = reader(r"[WE]\d{4} [\d:.]+ +\d+ \S+:\d+\] (?:\[[^\]]*\] )*", RULES)


@contextmanager
def without_deprecations() -> Iterator[None]:
    """Of what is called inside: a library's use of its own old functions."""
    with warnings.catch_warnings():
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        yield
