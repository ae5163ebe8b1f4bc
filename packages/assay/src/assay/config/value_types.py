"""What one value of assay.toml may be, and what is said of one that may not."""

from __future__ import annotations

import datetime
import math
import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

from assay.config.toml_errors import nearest
from assay.core.case import LARGEST
from assay.core.outcome import Outcome, Stage
from assay.errors import UsageError
from assay.judge.engine_metrics import in_full
from assay.judge.metric_registry import RECORDED, is_unknown
from assay.numerics.tolerance.arithmetic import ALLOWANCES
from assay.numerics.tolerance.default import default_tolerance
from assay.numerics.tolerance.tolerance_tables import table_of
from assay.options.amounts import bytes_of
from assay.options.sizes import read_sizes
from assay.task_metrics.registry import TASK_METRICS

JUDGED = tuple(outcome.value for outcome in Outcome if outcome not in (Outcome.OK, Outcome.INFRASTRUCTURE))
"""Outcomes a policy may speak of: what is fine needs no rule, and what the harness broke is no outcome of a model."""

LONGEST_NAME = 200
"""Characters of a case or flow."""


def _task_metric(value: object) -> str:
    if not isinstance(value, str) or value not in TASK_METRICS:
        raise ValueError(
            f"must be one of {', '.join(TASK_METRICS)}, not {value!r}{nearest(str(value), tuple(TASK_METRICS))}"
        )
    return value


def _outcome(value: object) -> str:
    if not isinstance(value, str) or value not in JUDGED:
        raise ValueError(f"must be one of {', '.join(JUDGED)}, not {value!r}{nearest(str(value), JUDGED)}")
    return value


def _cell_name(value: str) -> str:
    if not value or "|" in value:
        raise ValueError("must not be empty, and must not hold '|', which separates case, flow and kind")
    if len(value) > LONGEST_NAME:
        raise ValueError(
            f"must not be longer than {LONGEST_NAME} characters, and has {len(value)}: it stands in every report"
        )
    return value


def _reason(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty: whoever reads it next year needs to know why")
    return value


def _date(value: object) -> datetime.date:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        return datetime.date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError(f"must be a date like 2027-01-31, not {value!r}") from None


def _option(value: object) -> object:
    if not isinstance(value, str | int | float | bool) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"must be a text, a finite number or true/false, not {value!r}")
    return value


def _metric(value: str) -> str:
    if not value:
        raise ValueError("must name a metric such as latency.median_ms")
    value = in_full(value)
    if is_unknown(value):
        raise ValueError(f"'{value}' is no metric that is ever recorded{nearest(value, [k.pattern for k in RECORDED])}")
    return value


def _stage(value: str) -> str:
    names = [stage.value for stage in Stage]
    if value and value not in names:
        raise ValueError(f"must be one of {', '.join(names)}, not {value!r}{nearest(value, names)}")
    return value


def _sizes(value: object) -> str | list[int]:
    try:
        if isinstance(value, str):
            read_sizes("it", value)
            return value
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return [value]
        if isinstance(value, list) and value and all(type(size) is int and 0 < size <= LARGEST for size in value):
            return value
    except UsageError as error:
        raise ValueError(f"is of no use: {error}") from None
    raise ValueError(
        "must be the least, the usual and the largest size in this order, for example [1, 4, 16], one size, or a list of them, "
        'or a text such as "64,96,160" or "64:160:32"'
    )


def _input_range(value: object) -> list[float]:
    numbers = [float(number) for number in value if type(number) in (int, float)] if isinstance(value, list) else []
    if len(numbers) != 2 or not isinstance(value, list) or len(value) != 2 or not numbers[0] <= numbers[1] < math.inf:
        raise ValueError(f"must be the lowest and the highest value in this order, for example [0, 1], not {value!r}")
    return numbers


def _input_values(value: object) -> list[float]:
    listed: list[object] = value if isinstance(value, list) else [value]
    numbers = [float(number) for number in listed if isinstance(number, int | float) and not isinstance(number, bool)]
    if not numbers or len(numbers) < len(listed) or not all(map(math.isfinite, numbers)):
        raise ValueError(f"must be a number, or a list of numbers that samples take in turn, not {value!r}")
    return numbers


def _precision(value: str) -> str:
    try:
        default_tolerance(value, "float32", 1.0)
    except UsageError as error:
        raise ValueError(f"is of no use: {error}") from None
    return value


def _allowance(value: str) -> str:
    if value not in ALLOWANCES:
        raise ValueError(f"must be one of {', '.join(ALLOWANCES)}, not {value!r}{nearest(value, list(ALLOWANCES))}")
    return value


def _environment_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
        raise ValueError(
            "must be made of letters, digits, '.', '_' and '-': it names a file, and follows '@' in a flow"
        )
    return value


def _requirement(value: str) -> str:
    """PEP 508, by its first name: what else pip reads on such a line are options and files, whose text its errors would show."""
    if not re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[^]]*\]\s*)?($|[<>=!~(;,@])", value) or re.search(
        r"[\r\n]|\s-", value
    ):
        raise ValueError(
            f'must be one requirement such as "onnxruntime==1.30.0" or "name @ https://...", no option and no file, not {value!r}'
        )
    return value


def _python(value: str) -> str:
    if value and "/" not in value and not re.fullmatch(r"3\.\d+", value):
        raise ValueError(f'must be a minor version such as "3.12", or the path of an interpreter, not {value!r}')
    return value


def _address(value: str) -> str:
    """Of HTTP; "" is none."""
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port, or a host in brackets, that is none
        good = False
    if value and (not good or re.search(r"[\s\x00-\x1f\x7f]", value)):
        raise ValueError(f"must be an address such as http://127.0.0.1:8000/v1, not {value!r}")
    return value


def _tolerance(value: object, tables: ValidatorFunctionWrapHandler) -> Any:
    """The name of a tolerance as it is, anything else as tables of outputs. One field: a union would tell both errors."""
    if not isinstance(value, str):
        return tables(value)
    try:
        table_of(value)
    except UsageError as error:
        raise ValueError(f"is of no use: {error}") from None
    return value


def _with_what_they_need(allowances: list[str], info: ValidationInfo) -> list[str]:
    """Tables in eight bits beside other weights in eight bits alone, which a flow of int8 has: it would mean nothing elsewhere."""
    beside = {"int8-operands", "int8-weights"}
    if "int8-tables" in allowances and (beside.isdisjoint(allowances) or info.data.get("precision", "int8") != "int8"):
        raise ValueError(
            'has "int8-tables", which needs precision = "int8" and one of "int8-operands" and "int8-weights" beside it'
        )
    return allowances


TaskMetricName = Annotated[str, BeforeValidator(_task_metric)]
OutcomeName = Annotated[str, BeforeValidator(_outcome)]
EnvironmentName = Annotated[str, AfterValidator(_environment_name)]
CellName = Annotated[str, AfterValidator(_cell_name)]
Options = dict[str, Annotated[Any, BeforeValidator(_option)]]
NonNegative = Annotated[float, Field(ge=0)]
Weeks = Annotated[int, Field(ge=0, le=5200)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=0.5)]
Reason = Annotated[str, AfterValidator(_reason)]
Bytes = Annotated[int, BeforeValidator(bytes_of), WithJsonSchema({"type": ["integer", "string"]})]
Date = Annotated[datetime.date, BeforeValidator(_date)]
MetricName = Annotated[str, AfterValidator(_metric)]
StageName = Annotated[str, AfterValidator(_stage)]
Sizes = Annotated[Any, BeforeValidator(_sizes), WithJsonSchema({"type": ["integer", "string", "array"]})]
InputBounds = Annotated[Any, BeforeValidator(_input_range), WithJsonSchema({"type": "array"})]
InputNumbers = Annotated[Any, BeforeValidator(_input_values), WithJsonSchema({"type": ["number", "array"]})]
Precision = Annotated[str, AfterValidator(_precision)]
AllowanceName = Annotated[str, AfterValidator(_allowance)]
Allowances = Annotated[list[AllowanceName], AfterValidator(_with_what_they_need)]
Address = Annotated[str, AfterValidator(_address)]
Requirement = Annotated[str, AfterValidator(_requirement)]
PythonVersion = Annotated[str, AfterValidator(_python)]
EITHER_TOLERANCE = WrapValidator(_tolerance)
"""Before a field of tables by output: the name of a tolerance may stand there instead."""
