"""The shape of assay.toml as a user writes it: keys in kebab-case, nothing unknown, nothing out of range."""

from __future__ import annotations

import datetime
import math
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from assay.core.duel import SpeedRule, looks
from assay.core.policy import Policy
from assay.core.result import Outcome, Stage
from assay.errors import UsageError
from assay.judge.build_figures import in_full
from assay.judge.figure_table import RECORDED, impossible
from assay.numerics.tolerance.choice import table_of
from assay.numerics.tolerance.contract import ALLOWANCES
from assay.numerics.tolerance.default import default_tolerance
from assay.pipeline.config_text import nearest

JUDGED = tuple(one.value for one in Outcome if one not in (Outcome.OK, Outcome.INFRASTRUCTURE))
"""Outcomes a policy may speak of: what is fine needs no rule, and what the harness broke is no outcome of a model."""

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, alias_generator=_kebab)


def _outcome(value: object) -> str:
    if not isinstance(value, str) or value not in JUDGED:
        raise ValueError(f"must be one of {', '.join(JUDGED)}, not {value!r}{nearest(str(value), JUDGED)}")
    return value


def _cell_name(value: str) -> str:
    if not value or "|" in value:
        raise ValueError("must not be empty, and must not hold '|', which separates case, flow and task")
    return value


def _told(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty: whoever reads it next year needs to know why")
    return value


def _bytes(value: object) -> int:
    """Bytes from a number or from a text with a unit: 4GB, 512MiB."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", value.strip()) if isinstance(value, str) else None
    if found is None or found[2].upper() not in _UNITS:
        raise ValueError(f'must be a number of bytes or a text like "4GB" or "512MiB", not {value!r}')
    return math.floor(float(found[1]) * _UNITS[found[2].upper()])


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


def _figure(value: str) -> str:
    if not value:
        raise ValueError("must name a figure such as latency.median_ms")
    value = in_full(value)
    if impossible(value):
        raise ValueError(f"'{value}' is no figure that is ever recorded{nearest(value, [k.pattern for k in RECORDED])}")
    return value


def _stage(value: str) -> str:
    names = [one.value for one in Stage]
    if value and value not in names:
        raise ValueError(f"must be one of {', '.join(names)}, not {value!r}{nearest(value, names)}")
    return value


def _sizes(value: list[int]) -> list[int]:
    if len(value) != 3 or value != sorted(value):
        raise ValueError("must be the least, the usual and the largest size in this order, for example [1, 4, 16]")
    return value


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


def _python(value: str) -> str:
    if value and "/" not in value and not re.fullmatch(r"3\.\d+", value):
        raise ValueError(f'must be a minor version such as "3.12", or the path of an interpreter, not {value!r}')
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


OutcomeName = Annotated[str, BeforeValidator(_outcome)]
EnvironmentName = Annotated[str, AfterValidator(_environment_name)]
CellName = Annotated[str, AfterValidator(_cell_name)]
Options = dict[str, Annotated[Any, BeforeValidator(_option)]]
NonNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=0.5)]


class ToleranceFile(_Table):
    rtol: NonNegative | None = None
    atol: NonNegative | None = None


class ModelFile(_Table):
    path: Annotated[str, Field(min_length=1)]
    name: CellName | None = None
    golden: str = ""
    task: Literal["classification", "detection", "segmentation", "transcription"] | None = None
    task_options: Options = {}
    flows: list[CellName] = []
    seed: Annotated[int, Field(ge=0)] = 0
    samples: Count = 4
    batch: Count = 1
    calibration: Annotated[int, Field(ge=0)] = 0
    dims: dict[str, Annotated[list[Count], AfterValidator(_sizes)]] = {}
    tolerance: Annotated[dict[str, ToleranceFile], WrapValidator(_tolerance)] = {}
    inputs: Literal["normal", "exact"] = "normal"


class FlowsFile(_Table):
    use: list[CellName] = []


class FlowFile(_Table):
    backend: Annotated[str, Field(min_length=1)]
    options: Options = {}
    transforms: list[str] = []
    device: str = "cpu"
    environment: str = ""
    precision: Annotated[str, AfterValidator(_precision)] = "float32"
    allowances: list[Annotated[str, AfterValidator(_allowance)]] = []


class EnvironmentFile(_Table):
    requires: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    python: Annotated[str, AfterValidator(_python)] = ""
    lock: str = ""


class LimitsFile(_Table):
    timeout_s: Positive = 300.0
    memory: Annotated[int, BeforeValidator(_bytes)] = 0


class MeasureFile(_Table):
    enabled: bool = True
    seconds: Positive = 0.5
    batches: list[Count] = []
    threads: Count = 1
    warmup_s: NonNegative = 2.0


class GoalFile(_Table):
    figure: Annotated[str, AfterValidator(_figure)]
    max: float | None = None
    min: float | None = None
    equal: float | None = None
    max_degradation: NonNegative | None = None
    percent_max_degradation: NonNegative | None = None
    noise: NonNegative = 0.0
    flow: str = "*"
    case: str = "*"
    against: Annotated[str, Field(pattern=r"^(run|flow:.+)$")] | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> GoalFile:
        names = ("max", "min", "equal", "max_degradation", "percent_max_degradation")
        given = [_kebab(name) for name in names if getattr(self, name) is not None]
        if len(given) != 1:
            what = f"has both {' and '.join(given)}" if given else "has no limit"
            raise ValueError(f"{what}: give exactly one of {', '.join(map(_kebab, names))}")
        if self.against and given[0] in names[:3]:
            raise ValueError(
                f"{given[0]} is absolute, against has no effect on it: remove against, or limit a degradation"
            )
        if self.noise and given[0] in names[:3]:
            raise ValueError(f"{given[0]} is absolute, noise has no effect on it: remove noise, or limit a degradation")
        return self


class ExpectFile(_Table):
    case: Annotated[str, Field(min_length=1)]
    flow: Annotated[str, Field(min_length=1)]
    outcome: OutcomeName
    reason: Annotated[str, AfterValidator(_told)]
    issue: str = ""
    expires: Annotated[datetime.date, BeforeValidator(_date)] | None = None
    task: Literal["*", "verify", "measure"] = "*"
    stage: Annotated[str, AfterValidator(_stage)] = ""


class SpeedFile(_Table):
    floor_percent: NonNegative = 1.0
    margin_percent: Positive = 2.0
    alpha: Share = 0.001
    beta: Share = 0.05
    launches: Annotated[int, Field(ge=4, le=200)] = 20
    wall_floor_percent: Positive = 25.0
    load_floor_percent: Positive = 50.0
    stored_floor_percent: Positive = 10.0

    @model_validator(mode="after")
    def _room(self) -> SpeedFile:
        if self.margin_percent <= self.floor_percent:
            raise ValueError(
                f"margin-percent ({self.margin_percent:g}) must be above floor-percent ({self.floor_percent:g}): "
                "below the margin engines are called the same, above the floor slower"
            )
        return self

    def rule(self) -> SpeedRule:
        """The same as fractions, with the looks that lead to so many launches."""
        return SpeedRule(
            floor=self.floor_percent / 100.0,
            margin=self.margin_percent / 100.0,
            alpha=self.alpha,
            beta=self.beta,
            looks=looks(self.launches),
            wall_floor=self.wall_floor_percent / 100.0,
            load_floor=self.load_floor_percent / 100.0,
            stored_floor=self.stored_floor_percent / 100.0,
        )


class LeastFile(_Table):
    min: Annotated[float, Field(ge=0, le=1)]


class MutationFile(_Table):
    kill_rate: LeastFile | None = None


class PolicyFile(_Table):
    budget_max: NonNegative = Policy().budget_max
    speed: SpeedFile = SpeedFile()
    fail_on: list[OutcomeName] = list(Policy().fail_on)
    minimum_cases: dict[str, Count] = {}
    mutation: MutationFile = MutationFile()
    goal: list[GoalFile] = []
    expect: list[ExpectFile] = []


class ConfigFile(_Table):
    history: Annotated[str, Field(min_length=1)] = ".assay"
    model: list[ModelFile] = []
    flows: FlowsFile = FlowsFile()
    flow: dict[CellName, FlowFile] = {}
    environments: dict[EnvironmentName, EnvironmentFile] = {}
    limits: LimitsFile = LimitsFile()
    measure: MeasureFile = MeasureFile()
    policy: PolicyFile = PolicyFile()
