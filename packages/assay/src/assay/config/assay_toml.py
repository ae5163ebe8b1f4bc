"""assay.toml, read into frozen values: what to check, on which flows, within which limits."""

from __future__ import annotations

import dataclasses
import glob
import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from assay.config.alert_rules import alert_rules
from assay.config.option_values import changed_limits, changed_measuring, inputs_of
from assay.core.alert import AlertRules
from assay.core.case import Contract, Inputs, Tolerance
from assay.core.environment import EnvironmentSpec
from assay.core.flow import Flow
from assay.core.limits import Limits, Measuring
from assay.core.policy import Expectation, Goal, Policy
from assay.core.service import Service
from assay.errors import BadPolicy
from assay.models.cache_eviction import MOST_BYTES
from assay.models.named_sources import is_named
from assay.models.sources import is_factory, source_name
from assay.options.arguments import values_from_python
from assay.options.check import LimitOptions, ModelOptions
from assay.options.groups import MeasureOptions
from assay.task_metrics.registry import TASK_METRICS

if TYPE_CHECKING:
    from pydantic import BaseModel

    from assay.config.schema import ConfigFile, ModelFile, PolicyFile
    from assay.config.toml_errors import TomlFile

Options = TypeVar("Options")
TEMPLATE = (
    (files("assay.config") / "template.toml")
    .read_text(encoding="utf-8")
    .replace("{{fail-on}}", json.dumps(Policy().fail_on))
    .replace("{{task-metrics}}", ", ".join(TASK_METRICS))
)
"""What `assay init` writes: every key, commented, with its default."""


class ModelEntry(msgspec.Struct, frozen=True):
    """One model to check. `path` is absolute; `inputs.golden` too, or "" for the float64 reference; `reference` is the file of
    the model that it is to be still ("" none), or `golden_of_another_model` says that the golden is of that one.

    `flows` empty: those of the whole file. The precision in `contract` is the flow's business.
    """

    name: str
    path: Path
    inputs: Inputs = Inputs()
    contract: Contract = Contract()
    flows: tuple[str, ...] = ()
    random_samples: int = 0
    reference: str = ""
    golden_of_another_model: bool = False
    map_inputs: dict[str, str] = {}
    map_outputs: dict[str, str] = {}


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
    from assay.config.schema import ConfigFile
    from assay.config.toml_errors import read

    text = read(path)
    parsed = text.validate(ConfigFile)
    return Config(
        path=path.absolute(),
        history=_place(path, parsed.history),
        store=_place(path, parsed.store) if parsed.store else "",
        models=_models(path, parsed, text),
        use=tuple(parsed.flows.use),
        flows=tuple(
            Flow(
                name,
                one.backend,
                one.options,
                tuple(one.transforms),
                one.device,
                one.environment,
                one.precision,
                allowances=tuple(one.allowances),
            )
            for name, one in parsed.flow.items()
        ),
        environments=tuple(
            EnvironmentSpec(name, tuple(one.requires), one.python, str(_beside(path, one.lock)) if one.lock else "")
            for name, one in parsed.environments.items()
        ),
        services=tuple(
            Service(name, one.url, one.start, one.health, one.stop, one.model, one.ready_s)
            for name, one in parsed.service.items()
        ),
        limits=changed_limits(Limits(), _said(LimitOptions, "limits", parsed.limits)),
        on=option_values("launch", parsed.launch)["on"],
        cache_bytes=parsed.cache.max_size,
        samples_weeks=parsed.retention.samples_weeks,
        files_weeks=parsed.retention.files_weeks,
        measure=parsed.measure.enabled,
        measuring=changed_measuring(
            Measuring(warmup_s=parsed.measure.warmup_s), _said(MeasureOptions, "measure", parsed.measure)
        ),
        policy=_policy(parsed.policy),
        alerts=alert_rules(path.absolute().parent, parsed.alerts),
    )


POLICIES = Path(__file__).parents[1] / "policies"
FREE_TO_DELEGATE = "free-to-delegate"
SHIPPED = (FREE_TO_DELEGATE,)
"""Policies that come with Assay, by name."""


def load_policy(path: Path) -> Policy:
    """The policy of an assay.toml, or of a file that holds nothing but what [policy] would hold.

    A name of `SHIPPED` that is no file is that policy. Raises BadPolicy as `load_config` does; models and goldens of a whole assay.toml
    need not exist.
    """
    from assay.config.schema import ConfigFile, PolicyFile
    from assay.config.toml_errors import read

    if str(path) in SHIPPED and not path.exists():
        path = POLICIES / f"{path}.toml"
    text = read(path)
    policy_only = text.data and not text.data.keys() & {name.replace("_", "-") for name in ConfigFile.model_fields}
    return _policy(text.validate(PolicyFile) if policy_only else text.validate(ConfigFile).policy)


def load_alerts(path: Path) -> AlertRules | None:
    """Of an assay.toml whose models need not exist; None where it names no target. Raises BadPolicy."""
    from assay.config.schema import ConfigFile
    from assay.config.toml_errors import read

    return alert_rules(path.absolute().parent, read(path).validate(ConfigFile).alerts)


def _beside(path: Path, name: str) -> Path:
    return path.absolute().parent / name


def _place(path: Path, said: str) -> str:
    """An address as it is written, a folder beside the file."""
    return said if "://" in said else str(_beside(path, said))


def _models(path: Path, parsed: ConfigFile, text: TomlFile) -> tuple[ModelEntry, ...]:
    entries: list[ModelEntry] = []
    wrong: list[str] = []
    for index, one in enumerate(parsed.model):
        found = _found(path, one)
        if not found:
            fix = "correct the pattern" if glob.has_magic(one.path) else "correct the path, it is relative to the file"
            wrong.append(text.sentence(("model", index, "path"), f"'{one.path}' matches no file: {fix}"))
        elif len(found) > 1 and (shared := next((key for key in ("name", "golden") if getattr(one, key)), "")):
            told = f"one {shared} for the {len(found)} models that '{one.path}' matches: list them one by one"
            wrong.append(text.sentence(("model", index, shared), told))
        else:
            entries.extend(_entries(path, one, found))
            for name in _twice([entry.name for entry in entries]):
                told = f"two models are called '{name}': give one of them another name"
                wrong.append(text.sentence(("model", index, "name" if one.name else "path"), told))
    if wrong:
        raise BadPolicy("\n".join(dict.fromkeys(wrong)))
    return tuple(entries)


def _found(path: Path, one: ModelFile) -> list[Path]:
    if is_factory(one.path) or is_named(one.path):
        return [Path(one.path)]
    pattern = _beside(path, one.path)
    if pattern.exists() or not glob.has_magic(one.path):
        return [pattern] if pattern.exists() else []
    names = sorted(glob.glob(one.path, root_dir=path.absolute().parent, recursive=True))
    return [_beside(path, name) for name in names]


def _entries(path: Path, one: ModelFile, found: list[Path]) -> list[ModelEntry]:
    stems = [source_name(file) for file in found]
    names = stems if not _twice(stems) else [_relative(path, file) for file in found]
    said = _said(ModelOptions, "model", one)
    golden = _data(path, str(said.golden)) if said.golden else ""
    given = _data(path, said.inputs) if said.inputs else ""
    said = dataclasses.replace(said, tokenizer=_data(path, said.tokenizer) if said.tokenizer else "")
    # A value takes the place of a range of the same input.
    ranges = {name: bounds for name, bounds in said.input_ranges.items() if name not in said.input_values}
    inputs = inputs_of(dataclasses.replace(said, input_ranges=ranges), golden, given)
    told: Any = one.tolerance
    named = {} if isinstance(told, str) else one.tolerance
    contract = Contract(
        tolerances={output: Tolerance(limits.rtol, limits.atol) for output, limits in named.items()},
        task_metric=one.task_metric,
        task_metric_options=one.task_metric_options,
        tolerance=told if isinstance(told, str) else Contract().tolerance,
    )
    return [
        ModelEntry(
            one.name or name,
            file,
            inputs,
            contract,
            tuple(one.flows),
            said.random_samples or 0,
            _reference(path, str(said.reference)) if said.reference else "",
            said.golden_of_another_model,
            dict(said.map_inputs),
            dict(said.map_outputs),
        )
        for name, file in zip(names, found, strict=True)
    ]


def _reference(path: Path, source: str) -> str:
    return source if is_named(source) else str(_beside(path, source))


def _data(path: Path, source: str) -> str:
    """Beside the file; a function of a module as it is written."""
    beside = _beside(path, source)
    of_module = is_factory(source) and not source.rpartition(":")[0].endswith(".py") and not beside.exists()
    return source if of_module else str(beside)


def _said(options: type[Options], table: str, parsed: BaseModel) -> Options:
    """What a table of the file says, as options. Raises UsageError."""
    from assay.config.option_keys import option_values

    return options(**values_from_python(options, option_values(table, parsed)))


def _relative(path: Path, file: Path) -> str:
    """A name for one of several files of the same stem: `resnet/model`."""
    folder = path.absolute().parent
    return (file.relative_to(folder) if file.is_relative_to(folder) else file).with_suffix("").as_posix()


def _twice(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _policy(parsed: PolicyFile) -> Policy:
    goals = tuple(
        Goal(
            g.metric,
            g.max,
            g.min,
            g.max_degradation,
            g.percent_max_degradation,
            g.flow,
            g.case,
            g.against or "run",
            g.equal,
            g.noise,
        )
        for g in parsed.goal
    )
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
