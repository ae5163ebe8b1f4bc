"""The assay.toml that `assay init` proposes: the models that lie beside it, and the flows that can run them."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.case import Case, Contract, Inputs
from assay.core.flow import Flow
from assay.core.job import InspectJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result_parts import comparisons_of
from assay.judge.outcome_table import ANSWERS
from assay.models.golden_checks import LOCK
from assay.pipeline.progress import SILENT, Progress
from assay.plugins import UNLISTED, catalogue

if TYPE_CHECKING:
    from assay.core.result import Result
    from assay.pipeline.adapters import Services

ONNX = ".onnx"
SUFFIXES = (ONNX, ".pt2")
LEFT_OUT = ("node_modules", "site-packages", "build", "dist")
"""Folders of other tools, beside hidden ones."""
DEEPEST = 4
MOST_MODELS = 50
MOST_TRIED = 3
"""Models that flows are tried on, the smallest first."""
TRIAL_S = 20.0
"""A flow that needs longer for one sample of a small model is none to begin with."""
OPENING_S = 60.0
"""For one exported program; the first waits for torch, too."""
ORACLES = ("reference", "torch", *UNLISTED)
"""Backends that answer for the model itself, or for tests: nobody deploys by them."""
DEFAULT_FLOW = "onnxruntime"
RUNS = ANSWERS - {Outcome.OTHER_PRECISION}
"""The model was lowered and run; what its answers are worth is what `assay check` is for."""


@dataclass(frozen=True)
class Proposal:
    """`flows` by model: those that ran it; empty where it was not tried. `refused` are models that no flow could run, and why;
    `goldens` the folders that hold recorded answers of a model, where each has one."""

    models: tuple[Path, ...]
    flows: Mapping[Path, tuple[str, ...]]
    refused: Mapping[Path, str]
    goldens: Mapping[Path, Path] = field(default_factory=dict)

    @property
    def common(self) -> tuple[str, ...]:
        """The flows that run every model that any flow runs; those of the first where there is none in common."""
        sets = [flow for flow in self.flows.values() if flow]
        if not sets:
            return (DEFAULT_FLOW,)
        return tuple(name for name in sets[0] if all(name in names for names in sets)) or sets[0]


def find_models(folder: Path) -> tuple[Path, ...]:
    """Files below `folder`, relative to it, in the order of their names; hidden folders and those of other tools are left out."""
    paths = [path for path in _files(folder) if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")]
    return tuple(sorted(paths)[:MOST_MODELS])


def find_goldens(folder: Path, models: Sequence[Path], locks: Path, progress: Progress = SILENT) -> dict[Path, Path]:
    """By model, the golden below `folder` that was recorded for exactly that model; none where several were. Where there is a golden
    every ONNX file is read, and exported programs are opened in a worker while a golden is left that is of no ONNX file."""
    from assay.errors import UsageError
    from assay.models.goldens import read_lock
    from assay.models.onnx_file import model_digest

    folders: dict[str, list[Path]] = {}
    for path in sorted(_files(folder)):
        if path.name == LOCK:
            with contextlib.suppress(UsageError):
                folders.setdefault(read_lock(folder / path.parent).model_digest, []).append(path.parent)
    digests: dict[Path, str] = {}
    for model in (path for path in models if folders and path.suffix.lower() == ONNX):
        progress.doing(f"looking for a golden of {model}")
        with contextlib.suppress(UsageError):
            digests[model] = model_digest(folder / model)
    programs = [path for path in models if path.suffix.lower() != ONNX]
    if programs and not folders.keys() <= {*digests.values()}:
        digests |= _program_digests(folder, programs, locks, progress)
    recorded = {model: folders.get(digest, []) for model, digest in digests.items()}
    return {model: places[0] for model, places in recorded.items() if len(places) == 1}


def _program_digests(folder: Path, programs: Sequence[Path], locks: Path, progress: Progress) -> dict[Path, str]:
    """What each computes; one that a worker cannot open is left out."""
    from assay.core.result import InspectResult

    jobs = [
        InspectJob(
            Case(str(path), Model(path.stem, str(folder / path), ""), Inputs(), Contract()), limits=Limits(OPENING_S)
        )
        for path in programs
    ]
    progress.doing(f"looking for goldens of {', '.join(map(str, programs[:3]))}{' ...' if len(programs) > 3 else ''}")
    with _passing_services(locks, progress) as services:
        results = services.jobs.complete(_all(services.jobs.results(jobs)))
    return {
        Path(result.case): result.model.digest
        for result in results
        if isinstance(result, InspectResult) and result.model is not None
    }


async def _all(results: AsyncIterator[Result]) -> list[Result]:
    return [result async for result in results]


@contextlib.contextmanager
def _passing_services(locks: Path, progress: Progress) -> Iterator[Services]:
    """Workers, and a history that is forgotten."""
    from assay.commands.composition import open_services

    with (
        tempfile.TemporaryDirectory(prefix="assay-init-", ignore_cleanup_errors=True) as name,
        open_services(str(Path(name) / "history"), locks=locks, progress=progress) as services,
    ):
        yield services


def _files(folder: Path) -> Iterator[Path]:
    """All below `folder`, relative to it."""
    for name, folders, files in os.walk(folder):
        here = Path(name).relative_to(folder)
        deeper = len(here.parts) < DEEPEST
        folders[:] = sorted(
            folder_name
            for folder_name in folders
            if deeper and not folder_name.startswith(".") and folder_name not in LEFT_OUT
        )
        yield from (here / file for file in files)


def candidates(locks: Path) -> list[Flow]:
    """One flow for each backend that is installed and deploys models on the CPU in float32: its first."""
    from assay.commands.flow_table import state_of
    from assay.commands.known_environments import open_environments
    from assay.commands.trials import Trials, trial_key

    environments, trials = open_environments(locks), Trials()
    first: dict[str, Flow] = {}
    for flow in catalogue().flows.values():
        plain = flow.precision == "float32" and flow.device == "cpu" and not flow.transforms
        if flow.backend in first or flow.backend in ORACLES or not plain:
            continue
        state = state_of(flow, environments.availability(flow))
        known = trials.find(trial_key(flow, state)) if state.available else None
        if state.available and (known is None or known.passed):
            first[flow.backend] = flow
    return sorted(first.values(), key=lambda flow: (flow.backend != DEFAULT_FLOW, flow.name))


def propose(folder: Path, flows: Sequence[Flow], locks: Path, progress: Progress = SILENT) -> Proposal:
    """One sample of each of the smallest models on every flow, in workers, in a history that is forgotten."""
    models = find_models(folder)
    goldens = find_goldens(folder, models, locks, progress)
    small = sorted(models, key=lambda path: (folder / path).stat().st_size)[:MOST_TRIED]
    if not small or not flows:
        return Proposal(models, {}, {}, goldens)
    outcomes = {path: _tried(folder / path, flows, locks, progress) for path in small}
    ran = {
        path: tuple(flow.name for flow in flows if outcome.get(flow.name) == "") for path, outcome in outcomes.items()
    }
    refused = {
        path: next(iter(outcome.values()), "").replace(f"{folder}/", "")
        for path, outcome in outcomes.items()
        if not ran[path]
    }
    return Proposal(models, {path: names for path, names in ran.items() if names}, refused, goldens)


def _tried(model: Path, flows: Sequence[Flow], locks: Path, progress: Progress) -> dict[str, str]:
    """Why each flow does not run the model, "" where it does. A model that cannot be looked at runs nowhere."""
    from assay.errors import UsageError
    from assay.pipeline.check import check
    from assay.pipeline.request import ModelRequest, Request

    model_request = ModelRequest(
        path=model, flows=tuple(flows), inputs=Inputs(samples=1), contract=Contract(tolerance="default")
    )
    request = Request(models=(model_request,), measuring=None, limits=Limits(TRIAL_S), command="assay init")
    with _passing_services(locks, progress) as services:
        try:
            results = check(request, services).results
        except UsageError as error:
            return {flow.name: " ".join(str(error).split()) for flow in flows}
    endings = {result.flow: f"{result.outcome.value}: {' '.join(result.detail.split())[:160]}" for result in results}
    return {
        result.flow: "" if result.outcome in RUNS and comparisons_of(result) else endings[result.flow]
        for result in results
    }


def config_text(template: str, proposal: Proposal) -> str:
    """The commented template with a [[model]] for each model and the flows that run them."""
    common = proposal.common
    if not proposal.models:
        return template
    blocks = [_block(path, proposal, common) for path in proposal.models]
    use = f"use = [{', '.join(map(quoted, common))}]"
    before, marker, rest = template.partition("[flows]\n")
    _, _, after = rest.partition("\n")
    return f"{before}{''.join(blocks)}{marker}{use:<35} # `assay flows` lists what is available here\n{after}"


def _block(path: Path, proposal: Proposal, common: Sequence[str]) -> str:
    lines = ["[[model]]", f"path = {quoted(path.as_posix())}"]
    if sum(model.stem == path.stem for model in proposal.models) > 1:
        lines.append(f"name = {quoted(path.with_suffix('').as_posix() if path.suffix == '.onnx' else path.as_posix())}")
    if path in proposal.goldens:
        lines.append(f"golden = {quoted(proposal.goldens[path].as_posix())}")
    own = proposal.flows.get(path, ())
    if own and own != tuple(common):
        lines.append(f"flows = [{', '.join(map(quoted, own))}]")
    if path in proposal.refused:
        lines = [f"# no flow ran this one: {proposal.refused[path]}", *(f"# {line}" for line in lines)]
    return "\n".join(lines) + "\n\n"


def quoted(text: str) -> str:
    """A TOML basic string."""
    return json.dumps(text, ensure_ascii=False)
