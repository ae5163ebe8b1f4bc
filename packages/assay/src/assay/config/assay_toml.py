"""assay.toml, read into frozen values: what to check, on which flows, within which limits."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from assay.config.alert_rules import alert_rules
from assay.config.model_entries import ModelEntry, beside, model_entries, options_in
from assay.config.option_values import changed_limits, changed_measuring
from assay.core.alert import AlertRules
from assay.core.environment import EnvironmentSpec
from assay.core.flow import Flow
from assay.core.limits import Limits, Measuring
from assay.core.policy import Expectation, Goal, Policy
from assay.core.service import Service
from assay.errors import BadPolicy
from assay.models.cache_eviction import MOST_BYTES
from assay.options.check import LimitOptions
from assay.options.groups import MeasureOptions
from assay.task_metrics.registry import TASK_METRICS

if TYPE_CHECKING:
    from assay.config.toml_schema import ConfigFile, PolicyFile

Options = TypeVar("Options")
TEMPLATE = (
    (files("assay.config") / "template.toml")
    .read_text(encoding="utf-8")
    .replace("{{fail-on}}", json.dumps(Policy().fail_on))
    .replace("{{task-metrics}}", ", ".join(TASK_METRICS))
)
"""What `assay init` writes: every key, commented, with its default."""


class Config(msgspec.Struct, frozen=True):
    """All of assay.toml. `history` and `store` are absolute folders or addresses.

    `flows` are the named variations, `use` the names of flows to check on."""

    path: Path
    history: str
    store: str = ""
    models: tuple[ModelEntry, ...] = ()
    use: tuple[str, ...] = ()
    flows: tuple[Flow, ...] = ()
    environments: tuple[EnvironmentSpec, ...] = ()
    services: tuple[Service, ...] = ()
    limits: Limits = Limits()
    on: str = ""
    cache_bytes: int = MOST_BYTES
    samples_weeks: int = 0
    files_weeks: int = 0
    measure: bool = True
    measuring: Measuring = Measuring()
    policy: Policy = Policy()
    alerts: AlertRules | None = None


def load_config(path: Path) -> Config:
    """Read and validate assay.toml; relative paths in it are relative to its folder.

    Raises BadPolicy with one sentence a line, for every mistake found: file, line, dotted key, what to do.
    """
    from assay.config.option_keys import option_values
    from assay.config.toml_errors import read
    from assay.config.toml_schema import ConfigFile

    text = read(path)
    parsed = text.validate(ConfigFile)
    return Config(
        path=path.absolute(),
        history=_place(path, parsed.history),
        store=_place(path, parsed.store) if parsed.store else "",
        models=model_entries(path, parsed, text),
        use=tuple(parsed.flows.use),
        flows=tuple(
            Flow(
                name,
                flow.backend,
                flow.options,
                tuple(flow.transforms),
                flow.device,
                flow.environment,
                flow.precision,
                allowances=tuple(flow.allowances),
            )
            for name, flow in parsed.flow.items()
        ),
        environments=_environments(path, parsed),
        services=_services(parsed),
        limits=changed_limits(Limits(), options_in(LimitOptions, "limits", parsed.limits)),
        on=option_values("launch", parsed.launch)["on"],
        cache_bytes=parsed.cache.max_size,
        samples_weeks=parsed.retention.samples_weeks,
        files_weeks=parsed.retention.files_weeks,
        measure=parsed.measure.enabled,
        measuring=changed_measuring(
            Measuring(warmup_s=parsed.measure.warmup_s), options_in(MeasureOptions, "measure", parsed.measure)
        ),
        policy=_policy(parsed.policy),
        alerts=alert_rules(path.absolute().parent, parsed.alerts),
    )


POLICIES = Path(__file__).parents[1] / "policies"
FREE_TO_DELEGATE = "free-to-delegate"
SHIPPED = (FREE_TO_DELEGATE,)
"""Policies that come with Assay, by name."""


def _environments(path: Path, parsed: ConfigFile) -> tuple[EnvironmentSpec, ...]:
    return tuple(
        EnvironmentSpec(
            name,
            tuple(environment.requires),
            environment.python,
            str(beside(path, environment.lock)) if environment.lock else "",
        )
        for name, environment in parsed.environments.items()
    )


def _services(parsed: ConfigFile) -> tuple[Service, ...]:
    return tuple(
        Service(
            name,
            service.url,
            service.start,
            service.health,
            service.stop,
            service.model,
            service.ready_s,
            service.metrics,
        )
        for name, service in parsed.service.items()
    )


def load_policy(written: str | Path) -> Policy:
    """The policy of an assay.toml, or of a file that holds nothing but what [policy] would hold.

    A text that is one of `SHIPPED`, and no file, is that policy; `./free-to-delegate` and any Path is a file. Raises BadPolicy as
    `load_config` does; models and goldens of a whole assay.toml need not exist.
    """
    from assay.config.toml_errors import read
    from assay.config.toml_schema import ConfigFile, PolicyFile

    path = Path(written)
    if written in SHIPPED and not path.exists():
        path = POLICIES / f"{written}.toml"
    text = read(path)
    policy_only = text.data and not text.data.keys() & {name.replace("_", "-") for name in ConfigFile.model_fields}
    return _policy(text.validate(PolicyFile) if policy_only else text.validate(ConfigFile).policy)


def load_alerts(path: Path) -> AlertRules | None:
    """Of an assay.toml whose models need not exist; None where it names no target. Raises BadPolicy."""
    from assay.config.toml_errors import read
    from assay.config.toml_schema import ConfigFile

    return alert_rules(path.absolute().parent, read(path).validate(ConfigFile).alerts)


def load_machine_address(path: Path) -> str:
    """Where jobs run by an assay.toml whose models need not exist, "" where it does not say. Raises BadPolicy."""
    from assay.config.option_keys import option_values
    from assay.config.toml_errors import read
    from assay.config.toml_schema import ConfigFile

    address: str = option_values("launch", read(path).validate(ConfigFile).launch)["on"]
    return address


def load_sent_files(path: Path) -> tuple[str, ...]:
    """Those that an assay.toml, whose models need not exist, sends to nodes that share no disk: paths relative to the working folder,
    which they are below. Raises BadPolicy."""
    from assay.config.sent_files import matched_files
    from assay.config.toml_errors import read
    from assay.config.toml_schema import ConfigFile

    patterns = read(path).validate(ConfigFile).launch.send
    return tuple(dict.fromkeys(name for pattern in patterns for name in matched_files(path, pattern)))


def _place(path: Path, place: str) -> str:
    """An address as it is written, a folder beside the file."""
    return place if "://" in place else str(beside(path, place))


def _policy(parsed: PolicyFile) -> Policy:
    goals = tuple(Goal(**goal.model_dump(exclude_none=True)) for goal in parsed.goal)
    if parsed.mutation.kill_rate is not None:
        goals += (Goal("mutation.kill_rate", min=parsed.mutation.kill_rate.min),)
    expectations = tuple(
        Expectation(
            e.case,
            e.flow,
            e.outcome,
            e.reason,
            e.issue,
            e.expires.isoformat() if e.expires else "",
            e.kind,
            stage=e.stage,
        )
        for e in parsed.expect
    )
    both = sorted({*parsed.fail_on} & {*parsed.pass_on} - {*Policy().fail_on})
    if both:
        raise BadPolicy(f"{both[0]!r} stands in fail-on and in pass-on: take it out of one of them")
    return Policy(
        goals,
        expectations,
        parsed.minimum_cases,
        parsed.budget_max,
        tuple(parsed.fail_on),
        parsed.speed.rule(),
        tuple(parsed.pass_on),
    )
