"""The shape of assay.toml as a user writes it: keys in kebab-case, nothing unknown, nothing out of range."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from assay.config.alert_values import AlertKindName, AlertTargetName, QuietHours, TimeZone, one_place
from assay.config.option_keys import with_option_keys
from assay.config.value_types import (
    EITHER_TOLERANCE,
    Address,
    Allowances,
    Bytes,
    CellName,
    Count,
    Date,
    EnvironmentName,
    MetricName,
    NonNegative,
    Options,
    OutcomeName,
    Positive,
    Precision,
    PythonVersion,
    Reason,
    Requirement,
    Share,
    StageName,
    TaskMetricName,
    Weeks,
)
from assay.core.alert import TREND_METRICS, AlertKind
from assay.core.policy import ABSOLUTE, LIMITS, Policy
from assay.core.speed import SpeedRule, interim_looks
from assay.models.cache_eviction import MOST_BYTES


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, alias_generator=_kebab)


class ToleranceFile(_Table):
    rtol: NonNegative | None = None
    atol: NonNegative | None = None


@with_option_keys("model")
class ModelFile(_Table):
    path: Annotated[str, Field(min_length=1)]
    name: CellName | None = None
    task_metric: TaskMetricName | None = None
    task_metric_options: Options = {}
    flows: list[CellName] = []
    tolerance: Annotated[
        dict[str, ToleranceFile], EITHER_TOLERANCE, WithJsonSchema({"type": ["string", "object"]})
    ] = {}


class FlowsFile(_Table):
    use: list[CellName] = []


class FlowFile(_Table):
    backend: Annotated[str, Field(min_length=1)]
    options: Options = {}
    transforms: list[str] = []
    device: str = "cpu"
    environment: str = ""
    precision: Precision = "float32"
    allowances: Allowances = []


class ServiceFile(_Table):
    url: Annotated[Address, Field(min_length=1)]
    start: str = ""
    health: Address = ""
    stop: str = ""
    model: str = ""
    metrics: Address = ""
    ready_s: Annotated[float, Field(gt=0)] = 60.0


class EnvironmentFile(_Table):
    requires: Annotated[list[Requirement], Field(min_length=1)]
    python: PythonVersion = ""
    lock: str = ""


@with_option_keys("limits")
class LimitsFile(_Table):
    pass


class CacheFile(_Table):
    max_size: Bytes = MOST_BYTES


class RetentionFile(_Table):
    samples_weeks: Weeks = 0
    files_weeks: Weeks = 0


@with_option_keys("measure")
class MeasureFile(_Table):
    enabled: bool = True
    warmup_s: NonNegative = 2.0


class GoalFile(_Table):
    metric: MetricName
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
        limits = [_kebab(name) for name in LIMITS if getattr(self, name) is not None]
        if len(limits) != 1:
            what = f"has both {' and '.join(limits)}" if limits else "has no limit"
            raise ValueError(f"{what}: give exactly one of {', '.join(map(_kebab, LIMITS))}")
        if self.against and limits[0] in ABSOLUTE:
            raise ValueError(
                f"{limits[0]} is absolute, against has no effect on it: remove against, or limit a degradation"
            )
        if self.noise and limits[0] in ABSOLUTE:
            raise ValueError(
                f"{limits[0]} is absolute, noise has no effect on it: remove noise, or limit a degradation"
            )
        return self


class ExpectFile(_Table):
    case: Annotated[str, Field(min_length=1)]
    flow: Annotated[str, Field(min_length=1)]
    outcome: OutcomeName
    reason: Reason
    issue: str = ""
    expires: Date | None = None
    kind: Literal["*", "verify", "measure", "change"] = "*"
    stage: StageName = ""


class SpeedFile(_Table):
    min_slowdown_percent: NonNegative = 1.0
    margin_percent: Positive = 2.0
    alpha: Share = 0.001
    beta: Share = 0.05
    launches: Annotated[int, Field(ge=4, le=200)] = 20
    wall_min_slowdown_percent: Positive = 25.0
    load_min_slowdown_percent: Positive = 50.0
    stored_min_slowdown_percent: Positive = 10.0

    @model_validator(mode="after")
    def _room(self) -> SpeedFile:
        if self.margin_percent <= self.min_slowdown_percent:
            raise ValueError(
                f"margin-percent ({self.margin_percent:g}) must be above min-slowdown-percent ({self.min_slowdown_percent:g}): "
                "below the margin engines are called the same, above the smallest slowdown slower"
            )
        return self

    def rule(self) -> SpeedRule:
        """The same as fractions, with the looks that lead to so many launches."""
        return SpeedRule(
            min_slowdown=self.min_slowdown_percent / 100.0,
            margin=self.margin_percent / 100.0,
            alpha=self.alpha,
            beta=self.beta,
            looks=interim_looks(self.launches),
            wall_min_slowdown=self.wall_min_slowdown_percent / 100.0,
            load_min_slowdown=self.load_min_slowdown_percent / 100.0,
            stored_min_slowdown=self.stored_min_slowdown_percent / 100.0,
        )


class LeastFile(_Table):
    min: Annotated[float, Field(ge=0, le=1)]


class MutationFile(_Table):
    kill_rate: LeastFile | None = None


class PolicyFile(_Table):
    budget_max: NonNegative = Policy().budget_max
    speed: SpeedFile = SpeedFile()
    fail_on: list[OutcomeName] = list(Policy().fail_on)
    pass_on: list[Literal["undelegated", "unsupported"]] = []
    minimum_cases: dict[str, Count] = {}
    mutation: MutationFile = MutationFile()
    goal: list[GoalFile] = []
    expect: list[ExpectFile] = []


class AddressFile(_Table):
    """Where the address of a target is read from."""

    file: str = ""
    env: str = ""


class AlertTargetFile(_Table):
    name: AlertTargetName
    url: Annotated[AddressFile | str, BeforeValidator(one_place), WithJsonSchema({"type": ["string", "object"]})]
    on: Annotated[list[AlertKindName], Field(min_length=1)] | None = None
    quiet_hours: bool = True


class AlertsFile(_Table):
    target: list[AlertTargetFile] = []
    on: Annotated[list[AlertKindName], Field(min_length=1)] = [alert_kind.value for alert_kind in AlertKind]
    report_url: Annotated[str, Field(pattern=r"^(https?://|\$|$)")] = ""
    quiet_hours: QuietHours = ""
    time_zone: TimeZone = ""
    only_with: str = ""
    trend_metrics: list[MetricName] = list(TREND_METRICS)

    @model_validator(mode="after")
    def _named_once(self) -> AlertsFile:
        names = [target.name for target in self.target]
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            raise ValueError(f"has two targets called '{twice}': give one of them another name")
        return self


@with_option_keys("launch")
class LaunchFile(_Table):
    send: list[Annotated[str, Field(min_length=1)]] = []


class ConfigFile(_Table):
    history: Annotated[str, Field(min_length=1)] = ".assay"
    store: str = ""
    model: list[ModelFile] = []
    flows: FlowsFile = FlowsFile()
    flow: dict[CellName, FlowFile] = {}
    service: dict[CellName, ServiceFile] = {}
    environments: dict[EnvironmentName, EnvironmentFile] = {}
    limits: LimitsFile = LimitsFile()
    launch: LaunchFile = LaunchFile()
    cache: CacheFile = CacheFile()
    retention: RetentionFile = RetentionFile()
    measure: MeasureFile = MeasureFile()
    policy: PolicyFile = PolicyFile()
    alerts: AlertsFile = AlertsFile()


def config_schema() -> dict[str, Any]:
    """The JSON schema of assay.toml, by which an editor completes and explains its keys."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ConfigFile.model_json_schema()}
