"""`assay.check(...)`: the command line's words as a function; the command itself goes through here too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from assay.commands.asked_flows import flows_of
from assay.commands.asked_limits import limits_of, measuring_of
from assay.commands.caches import enforce_cache_limit_after_check
from assay.commands.composition import open_services
from assay.commands.conflicting_options import reject_unnamed, reject_with_golden
from assay.commands.defaults import DEFAULT_HISTORY
from assay.commands.originals import original_asked, original_listed
from assay.commands.own_data import near, near_data, source_of
from assay.commands.parse_options import parse_fill, parse_task_metric, with_stated
from assay.commands.random_cases import with_random_samples
from assay.commands.reporting import destinations
from assay.config.assay_toml import Config, load_config, load_policy
from assay.config.data_options import data_of, parse_state
from assay.core.case import Contract, Inputs, Tolerance
from assay.core.policy import Policy
from assay.errors import UsageError
from assay.judge.requirement import parse_requirement
from assay.judge.speed import with_baseline_goals
from assay.launch.idle import IdleWorkers
from assay.numerics.tolerance.tolerance_tables import DERIVED, table_of
from assay.pipeline.check import Checked
from assay.pipeline.check import check as run_pipeline
from assay.pipeline.progress import SILENT, Progress
from assay.pipeline.request import ModelRequest, Request
from assay.pipeline.services import Services

CONFIG = Path("assay.toml")
KINDS = ("verify", "per_node", "measure", "all")


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What a user may say. `models` empty: everything that `config` (or ./assay.toml) lists. `only` narrows a run to
    one job, `case|flow|task`; `history` empty: the config's, or `.assay`."""

    models: tuple[Path, ...] = ()
    flows: tuple[str, ...] = ()
    golden: Path | None = None
    reference: Path | None = None
    golden_of_another_model: bool = False
    map_inputs: tuple[str, ...] = ()
    map_outputs: tuple[str, ...] = ()
    config: Path | None = None
    policy: Path | None = None
    reports: tuple[str, ...] = ()
    only_kind: str = "all"
    options: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    input_ranges: tuple[str, ...] = ()
    input_values: tuple[str, ...] = ()
    calibration: int = 0
    task_metric: str = ""
    rtol: float | None = None
    atol: float | None = None
    tolerance: str = ""
    fill: str = ""
    inputs: str = ""
    state: tuple[str, ...] = ()
    image: str = ""
    seed: int = 0
    samples: int | None = None
    batch: int | None = None
    random_samples: int | None = None
    measure_seconds: float | None = None
    measure_batches: tuple[int, ...] = ()
    threads: int | None = None
    timeout_s: float | None = None
    derive_s: float | None = None
    memory: str = ""
    workers: int = 0
    per_node: bool = False
    compare_run: str = ""
    baseline: bool = False
    history: str = ""
    only: str = ""
    command: str = "assay check"
    save_inputs: str = ""
    save_outputs: str = ""
    no_cache: bool = False


def check(
    *models: str | Path,
    flows: Sequence[str] = (),
    golden: str | Path | None = None,
    reference: str | Path | None = None,
    golden_of_another_model: bool = False,
    map_inputs: Mapping[str, str] | None = None,
    map_outputs: Mapping[str, str] | None = None,
    inputs: str | Path = "",
    state: Mapping[str, str] | None = None,
    image: str = "",
    config: str | Path | None = None,
    policy: str | Path | None = None,
    reports: Mapping[str, str | Path] | None = None,
    measure: bool = True,
    seed: int = 0,
    samples: int | None = None,
    dims: Mapping[str, str | int] | None = None,
    input_ranges: Mapping[str, str] | None = None,
    input_values: Mapping[str, float | str] | None = None,
    history: str | Path = "",
    save_inputs: str | Path = "",
    save_outputs: str | Path = "",
    no_cache: bool = False,
) -> Checked:
    """Build, verify and measure models on flows, record the results and judge them.

    A failing model raises nothing: look at `judgement.exit_code`. UsageError says what is wrong with the input, before anything
    ran; HarnessError that the machine failed. Values are written as on the command line.

    - `models`: files to check. None: all that `config` (default: ./assay.toml) lists. `flows`: names that `assay flows` lists.
    - `golden`: inputs with expected outputs: a golden folder, or data as people have them (docs/own-data.md).
    - `inputs`: inputs alone, answered by the float64 reference. `samples`, `seed`: of random inputs, without either (4 samples).
    - `reference`: the file of the model that `models` were made from, and whose answers they must still give. A `golden` is then its.
    - `golden_of_another_model`: the golden is all that is known of it. `map_inputs`, `map_outputs`: names that differ, from new to old.
    - `state`: outputs to feed back as inputs of the next call. `image`: how images become inputs, `"size=224x224,layout=NCHW"`.
    - `dims`: sizes of symbolic dimensions, `{"height": "64,96,160", "x[2]": 48}`.
    - `input_ranges`, `input_values`: values of inputs, `{"mask": "0:1"}` and `{"rate": 16000}`.
    - `policy`: a TOML file with limits and expected outcomes. `measure`: whether to measure latency and memory, too.
    - `reports`: from the name of a report to its file, `{"html": "out.html"}`. `save_inputs`, `save_outputs`: an .npz or a folder.
    - `history`: where the run is recorded. Default: that of `config`, or `.assay`. `no_cache`: lower again what an earlier run was refused.
    """
    options = CheckOptions(
        models=tuple(Path(model) for model in models),
        flows=tuple(flows),
        golden=Path(golden) if golden else None,
        reference=Path(reference) if reference else None,
        golden_of_another_model=golden_of_another_model,
        map_inputs=tuple(f"{new}={old}" for new, old in (map_inputs or {}).items()),
        map_outputs=tuple(f"{new}={old}" for new, old in (map_outputs or {}).items()),
        inputs=str(inputs),
        state=tuple(f"{output}={name}" for output, name in (state or {}).items()),
        image=image,
        config=Path(config) if config else None,
        policy=Path(policy) if policy else None,
        reports=tuple(f"{name}={path}" for name, path in (reports or {}).items()),
        only_kind="all" if measure else "verify",
        seed=seed,
        samples=samples,
        dims=_arguments(dims),
        input_ranges=_arguments(input_ranges),
        input_values=_arguments(input_values),
        history=str(history),
        save_inputs=str(save_inputs),
        save_outputs=str(save_outputs),
        no_cache=no_cache,
        # What is advised names a configuration file only where one was read.
        command="assay check" if config or not models else "assay.check",
    )
    return run_check(options)


def _arguments(named: Mapping[str, object] | None) -> tuple[str, ...]:
    return tuple(f"{name}={told}" for name, told in (named or {}).items())


def run_check(options: CheckOptions, progress: Progress = SILENT, idle: IdleWorkers | None = None) -> Checked:
    """The whole of `assay check`, its printing apart. `idle` are workers that were started before."""
    reports = destinations(options.reports)
    config = _config(options)
    request = _request(options, config)
    history = options.history or (near(config.history) if config else DEFAULT_HISTORY)
    with open_services(history, workers=options.workers, progress=progress, config=config, idle=idle) as house:
        if options.compare_run:
            request = replace(request, baseline=house.store.run(options.compare_run).id)
        checked = run_pipeline(request, house)
    enforce_cache_limit_after_check(checked.results)
    for destination in reports:
        destination.write(checked)
    return checked


@contextmanager
def prepared(options: CheckOptions, progress: Progress) -> Iterator[tuple[Request, Services]]:
    """What the options ask for and the house to do it in: where other commands begin."""
    config = _config(options)
    request = _request(options, config)
    history = options.history or (near(config.history) if config else DEFAULT_HISTORY)
    with open_services(history, workers=options.workers, progress=progress, config=config) as house:
        yield request, house


def _config(options: CheckOptions) -> Config | None:
    path = options.config or (CONFIG if not options.models else None)
    if path is None:
        return None
    if options.config is None and not path.exists():
        raise UsageError(
            "no model given and no assay.toml here: name an ONNX file, or write assay.toml with `assay init`"
        )
    return load_config(path)


def _request(options: CheckOptions, config: Config | None) -> Request:
    if options.only_kind not in KINDS:
        raise UsageError(f"--only-kind {options.only_kind!r} is not one of {', '.join(KINDS)}")
    measuring = measuring_of(options, config)
    policy = load_policy(options.policy) if options.policy else config.policy if config else Policy()
    policy = msgspec.structs.replace(policy, goals=(*policy.goals, *map(parse_requirement, options.require)))
    wanted_measuring = options.only_kind == "measure" or (
        options.only_kind == "all" and (config is None or config.measure)
    )
    if options.baseline:
        policy = with_baseline_goals(policy, measured=wanted_measuring)
    models = _from_arguments(options, config) if options.models else _from_config(options, config)
    return Request(
        models=with_random_samples(models, options),
        policy=policy,
        limits=limits_of(options, config),
        measuring=measuring if wanted_measuring else None,
        verify=options.only_kind in ("verify", "all"),
        per_node=options.per_node or options.only_kind == "per_node",
        duels=options.baseline,
        command=options.command,
        only=options.only,
        save_inputs=options.save_inputs,
        save_outputs=options.save_outputs,
        no_cache=options.no_cache,
    )


def _from_arguments(options: CheckOptions, config: Config | None) -> tuple[ModelRequest, ...]:
    own = "--golden" if options.golden else "--inputs" if options.inputs else ""
    if own and len(options.models) > 1:
        raise UsageError(f"{own} belongs to one model and {len(options.models)} are given; list them in assay.toml")
    reject_with_golden(options)
    names = options.flows or (config.use if config else ()) or ("onnxruntime",)
    golden, given = source_of(str(options.golden or "")), source_of(options.inputs)
    data = data_of(golden, given, state=parse_state(options.state), image=options.image, most=options.samples or 0)
    inputs = Inputs(
        "" if data else golden,
        options.seed,
        options.samples or Inputs().samples,
        options.batch or Inputs().batch,
        options.calibration,
        fill=parse_fill(options.fill),
        data=data,
    )
    inputs = with_stated(inputs, options)
    table_of(options.tolerance or DERIVED)
    tolerances = {"*": Tolerance(options.rtol, options.atol)} if (options.rtol, options.atol) != (None, None) else {}
    metric, metric_options = parse_task_metric(options.task_metric)
    contract = Contract(
        tolerances=tolerances,
        task_metric=metric,
        task_metric_options=metric_options,
        tolerance=options.tolerance or DERIVED,
    )
    flows = flows_of(names, options, config)
    original = original_asked(options)
    return tuple(
        ModelRequest(path=path, flows=flows, inputs=inputs, contract=contract, original=original)
        for path in options.models
    )


def _chosen(contract: Contract, choice: str) -> Contract:
    """The contract with the tolerance of the command line, where it names one."""
    table_of(choice or DERIVED)
    return msgspec.structs.replace(contract, tolerance=choice) if choice else contract


def _from_config(options: CheckOptions, config: Config | None) -> tuple[ModelRequest, ...]:
    assert config is not None
    reject_unnamed(options)
    if not config.models:
        raise UsageError(f"{config.path.name} lists no [[model]]: add one, or name an ONNX file on the command line")
    return tuple(
        ModelRequest(
            path=Path(near(one.path)),
            flows=flows_of(options.flows or one.flows or config.use, options, config),
            name=one.name,
            inputs=with_stated(
                msgspec.structs.replace(
                    one.inputs,
                    golden=near(Path(one.inputs.golden)) if one.inputs.golden else "",
                    data=near_data(one.inputs.data),
                    calibration=options.calibration or one.inputs.calibration,
                ),
                options,
            ),
            contract=_chosen(one.contract, options.tolerance),
            random_samples=one.random_samples,
            original=original_listed(one),
        )
        for one in config.models
    )
