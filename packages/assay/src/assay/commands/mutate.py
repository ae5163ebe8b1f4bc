"""`assay mutate` as a function: of one model with its goldens, or of whole suites."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from assay.commands.alerting import rules_for, with_alerts
from assay.commands.check import prepared
from assay.commands.composition import open_services
from assay.commands.recycling import SUITE_RECYCLE
from assay.commands.reporting import destinations
from assay.commands.run import find_flows, find_suites
from assay.config.assay_toml import load_policy
from assay.config.option_values import check_stated
from assay.config.validate_cases import check_dims
from assay.core.case import Case, Tolerance
from assay.core.flow import Flow
from assay.core.limits import Limits
from assay.core.policy import Policy
from assay.errors import UsageError
from assay.models.random_inputs import check_can_be_generated
from assay.options.check import CheckOptions, check_options
from assay.options.groups import DEFAULT_HISTORY
from assay.options.mutate import MutateOptions
from assay.options.run import SUITE_TIMEOUT_S
from assay.pipeline.adapters import Services
from assay.pipeline.goldens.extend_golden import extend, with_goldens
from assay.pipeline.inspect_models import inspect_models
from assay.pipeline.mutate import Mutated, MutateRequest, mutate
from assay.pipeline.progress import SILENT, Progress
from assay.pipeline.run_suites import make
from assay.pipeline.suite_cases.suite_contract import collect_cases
from assay.pipeline.suite_cases.suite_select import Selection, parse_shard, select

DEFAULT_FLOW = "onnxruntime"


@dataclass(frozen=True)
class _Place:
    """What is asked, the services, and a folder for what is made on the way."""

    request: MutateRequest
    services: Services
    workspace: Path


def run_mutate(options: MutateOptions, progress: Progress = SILENT) -> tuple[Mutated, list[str]]:
    """What was killed and what survived, and what to do about it, a line each; reports are written.

    Raises UsageError, BrokenFlow, NothingSelected before anything ran.
    """
    targets, rules = destinations(options.reports), rules_for(options.alerts, None)
    with (_of_suites if _are_suites(options) else _of_model)(options, progress) as place:
        mutated = mutate(place.request, place.services, place.workspace)
        checked = with_alerts(mutated.checked, place.services, rules, options.alerts)
        mutated = dataclasses.replace(mutated, checked=checked)
        advice = _advice(options, place, mutated)
    for destination in targets:
        destination.write(mutated.checked)
    return mutated, advice


def _are_suites(options: MutateOptions) -> bool:
    targets = options.models
    files = [target for target in targets if target.suffix == ".onnx" or target.is_file()]
    if files and len(targets) > 1:
        raise UsageError(
            f"{files[0]} is a model and is mutated alone; put models into a folder to mutate them together"
        )
    narrowed = options.filters or options.shard not in ("", "1/1")
    if files and narrowed:
        raise UsageError("--filter and --shard choose cases of suites, and this is one model; leave them out")
    if not files and options.config:
        raise UsageError("--config lists models, and suites are mutated here; give --flow and --policy instead")
    if not files and (options.goldens or options.add_inputs):
        raise UsageError(f"--golden and --add-inputs belong to one model, and {targets[0]} is a suite; leave them out")
    if not files and (options.dims or options.input_ranges or options.input_values):
        raise UsageError(
            f"--dim, --input-range and --input-value belong to one model, and {targets[0]} is a suite; leave them out"
        )
    if options.add_inputs and not options.goldens:
        raise UsageError("--add-inputs needs a golden set to add them to: give --golden")
    return not files


@contextmanager
def _of_model(options: MutateOptions, progress: Progress) -> Iterator[_Place]:
    with prepared(_of_check(options), progress) as (request, services), _scratch(services) as workspace:
        model = with_goldens(request.models[0], options.goldens, workspace)
        (case,) = services.jobs.complete(inspect_models([model], request.limits, services))
        check_dims(case)
        check_stated(case)
        if not case.inputs.golden:
            check_can_be_generated(case.model, samples=case.inputs.samples, batch=case.inputs.batch)
        yield _Place(
            _request(options, case.name, [case], model.flows, request.policy, request.limits), services, workspace
        )


@contextmanager
def _of_suites(options: MutateOptions, progress: Progress) -> Iterator[_Place]:
    suites = find_suites([str(model) for model in options.models])
    flows = find_flows(options.flows or (DEFAULT_FLOW,), options.options)
    policy = load_policy(options.policy) if options.policy else Policy()
    # Planted faults are the same in every call: asking again would show nothing of them.
    limits = Limits(timeout_s=options.timeout_s or SUITE_TIMEOUT_S, repeat_share=0.0)
    selection = Selection(filters=options.filters, shard=parse_shard(options.shard))
    history = options.history or DEFAULT_HISTORY
    with (
        open_services(history, workers=options.workers, recycle=SUITE_RECYCLE, progress=progress) as services,
        _scratch(services) as workspace,
    ):
        progress.doing(f"collecting the cases of {', '.join(suite.name for suite in suites)}")
        selected_cases = [
            case for suite in suites for case in collect_cases(suite, options.seed) if case.misuse is None
        ]
        made, unmade = make(suites, select(selected_cases, selection, only=options.only), options.workers, progress)
        cases = [_judged_by(case, options) for case in made if case.name not in unmade]
        name = "+".join(suite.name for suite in suites)
        yield _Place(_request(options, name, cases, flows, policy, limits, unmade), services, workspace)


def _of_check(options: MutateOptions) -> CheckOptions:
    """What the unmutated model is prepared with."""
    golden = options.goldens[0] if options.goldens else None
    return dataclasses.replace(
        check_options(options), golden=golden, only_kind="verify", per_node=False, command=options.command
    )


@contextmanager
def _scratch(services: Services) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=services.folder, prefix="mutants-") as folder:
        yield Path(folder).absolute()


def _judged_by(case: Case, options: MutateOptions) -> Case:
    """The case with the tolerance of the command line in place of its own, where there is one."""
    if (options.rtol, options.atol) == (None, None):
        return case
    contract = replace(case.contract, tolerances={"*": Tolerance(options.rtol, options.atol)})
    return replace(case, contract=contract)


def _request(
    options: MutateOptions,
    name: str,
    cases: Sequence[Case],
    flows: Sequence[Flow],
    policy: Policy,
    limits: Limits,
    unmade: Mapping[str, str] = {},
) -> MutateRequest:
    return MutateRequest(
        name=name, cases=tuple(cases), flows=tuple(flows), unmade=unmade, policy=policy, limits=limits,
        most=options.limit, sites=options.sites, seed=options.seed, command=options.command,
        only=options.only, per_node=options.per_node,
    )  # fmt: skip


def _advice(options: MutateOptions, place: _Place, mutated: Mutated) -> list[str]:
    killers = [why.killer for score in mutated.scores for why in score.survivors.values() if why.killer is not None]
    if not killers:
        return []
    text = f"inputs were found that kill {len(killers)} of the survivors"
    if not options.goldens:
        return [text]
    if not options.add_inputs:
        return [f"{text}: --add-inputs REASON adds them to {options.goldens[0]}"]
    model = place.request.cases[0].model
    extended = extend(
        model, options.goldens, killers, options.add_inputs, place.services,
        limits=place.request.limits, workspace=place.workspace,
    )  # fmt: skip
    target, lock = place.services.jobs.complete(extended)
    return [f"{target} has {lock.samples} samples now"]
