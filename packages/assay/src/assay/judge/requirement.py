"""`metric operator number`, as written on a command line: a goal in one line."""

from __future__ import annotations

import difflib
import math
import re

from assay.core.policy import Goal
from assay.errors import UsageError
from assay.judge.engine_metrics import SHARES, in_full
from assay.judge.metric_registry import RECORDED, is_unknown

EXAMPLE = 'write for example "precision.float16 >= 0.8" or "undelegated == 0"'
OPTION = "--require"
LIMIT = {">=": "min", "<=": "max", "==": "equal"}
"""Operators, and the limit of a goal that each one is."""

_PARTS = re.compile(r"\s*(?P<metric>[^\s<>=!](?:.*?[^\s<>=!])?)\s*(?P<operator>>=|<=|==|!=|=|<|>)\s*(?P<number>\S+)\s*")


def parse_requirement(text: str) -> Goal:
    """A goal over that metric for every case and flow that records it. Raises UsageError for anything else."""
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise UsageError(f"--require {text!r} is not FIGURE OPERATOR NUMBER; {EXAMPLE}")
    metric, operator = in_full(parts["metric"]), parts["operator"]
    if operator not in LIMIT:
        raise UsageError(f"--require {text!r}: {operator} is none of {', '.join(LIMIT)}; {EXAMPLE}")
    try:
        number = float(parts["number"])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"--require {text!r}: {parts['number']!r} is no finite number; {EXAMPLE}")
    if is_unknown(metric):
        known = [*(kind.pattern for kind in RECORDED), *(f"precision.{name}" for name in SHARES)]
        near = difflib.get_close_matches(metric, known, n=1)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        raise UsageError(f"--require {text!r}: {metric!r} is no metric that is ever recorded{hint}")
    match operator:
        case ">=":
            return Goal(metric, min=number, option=OPTION)
        case "<=":
            return Goal(metric, max=number, option=OPTION)
        case _:
            return Goal(metric, equal=number, option=OPTION)
