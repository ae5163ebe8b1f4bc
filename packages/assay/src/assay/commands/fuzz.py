"""`assay fuzz` as a function: a session opened or gone on with, and what it has found."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from assay import plugins
from assay.commands.alerting import rules_for
from assay.commands.backend_options import with_options
from assay.commands.composition import open_services
from assay.commands.fuzz_alerts import tell_causes
from assay.commands.fuzz_known import keep_known
from assay.core.digest import sha256_bytes
from assay.core.flow import Flow
from assay.core.limits import Limits
from assay.errors import UnknownName, UsageError
from assay.fuzz.corpus import CAUSES, Arm, Bucket, Corpus, Session
from assay.fuzz.learn import learn
from assay.fuzz.session import Fuzzing
from assay.judge.words.missing_text import missing_text
from assay.launch.core_wait import used_by_tree_s
from assay.launch.prefork import Preforked
from assay.options.fuzz import FuzzOptions
from assay.options.groups import DEFAULT_HISTORY
from assay.pipeline.progress import SILENT, Progress
from assay.pipeline.provenance import usable_cores
from assay.suites.subprocess_run import describe_exit, run_in_subprocess

GENERATORS = "assay.generators"
SCREEN = "assay.generators.screen"
"""What each worker of a session imports: a backend whose cases end their process begins hundreds of them."""
MINER, MINING_S = "assay.generators.mine_models", 600
"""The module that reads a user's models, and the most seconds that it may take."""


@dataclass(frozen=True)
class Fuzzed:
    """`new` are the buckets of this call, `session` is the whole. `alerts` says, a line each, what became of those to be sent."""

    session: Session
    new: tuple[Bucket, ...]
    corpus: Path
    alerts: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 where this call found a wrong answer, a crash or a case that does not end; 0 else."""
        return int(any(bucket.status in CAUSES for bucket in self.new))


def corpus_of(corpus: Path | None, history: str) -> Corpus:
    """The one named, or that of the history."""
    folder = Path(history or DEFAULT_HISTORY) if "://" not in history else Path(DEFAULT_HISTORY)
    return Corpus(corpus or folder / "fuzz")


def run_fuzz(
    options: FuzzOptions,
    progress: Progress = SILENT,
    tell: Callable[[str], None] = lambda text: None,
    doing: Callable[[str], None] = lambda text: None,
) -> Fuzzed:
    """`tell` is called with what is to stay, `doing` with what goes on. Raises UsageError for a flow or a generator that is not there,
    and for a corpus of another seed or version."""
    flows = with_options([_flow(name) for name in options.flows or ("onnxruntime",)], options.options)
    corpus = corpus_of(options.corpus, options.history)
    session = _opened(corpus, options.seed, flows, options.generators)
    if options.near is not None:
        take_models(options.near, corpus, session)
    rules = rules_for(options.alerts, None)
    workers = options.workers or usable_cores()
    before = session.processor_s - used_by_tree_s(os.getpid())

    def used_s() -> float:
        return before + used_by_tree_s(os.getpid())

    history = options.history or DEFAULT_HISTORY
    with (
        Preforked(options.flows or ("onnxruntime",), (SCREEN,)) as preforked,
        open_services(history, workers=workers, progress=progress, preforked=preforked) as services,
    ):
        for flow in flows:
            here = services.available(flow)
            if not here.available:
                raise UsageError(f"{flow.name} cannot be fuzzed here: {missing_text(here)}")
        chosen = {
            arm.name for arm in session.arms.values() if not options.generators or arm.generator in options.generators
        }
        if options.learn:
            doing("finding out which operators are compiled together")
            tell(f"{learn(flows, corpus, session, services, options.learn)} pairs of operators are compiled together")
        keep_known(corpus)
        fuzzing = Fuzzing(corpus, session, flows, services, tell, chosen, used_s, doing)
        fuzzing.run(options.seconds, workers, options.cases)
        alerted = tell_causes(session, corpus, services, rules, options.alerts)
    session.processor_s = used_s()
    corpus.write(session)
    return Fuzzed(session, tuple(fuzzing.new), corpus.folder, alerted.lines)


def take_models(folder: Path, corpus: Corpus, session: Session) -> None:
    """The patterns of the models below the folder, kept in the corpus. Raises UsageError where there are none, and where the session has
    cases that were made without them."""
    if not folder.is_dir():
        raise UsageError(f"--near {folder} is no folder; name one with ONNX models")
    corpus.folder.mkdir(parents=True, exist_ok=True)
    new = corpus.near.with_suffix(".new")
    done = run_in_subprocess(MINER, str(folder), str(new), seconds=MINING_S)
    if done.returncode:
        raise UsageError(
            f"the models below {folder} could not be read: {describe_exit(done, Limits(timeout_s=MINING_S))}"
        )
    if not int(done.stdout.split()[-1]):
        new.unlink()
        raise UsageError(f"no model below {folder} has two nodes beside each other whose shapes are fixed and known")
    digest = sha256_bytes(new.read_bytes())[:16]
    if session.near != digest and any(arm.next for arm in session.arms.values()):
        new.unlink()
        raise UsageError(
            f"the corpus {corpus.folder} has cases that were made near to other models, or to none; give another folder with --corpus"
        )
    new.replace(corpus.near)
    session.near = digest


def _flow(name: str) -> Flow:
    flow = plugins.find_flow(name)
    if flow.transforms:
        raise UsageError(
            f"flow {name!r} transforms its models, and generated ones are run as they are; name one without transforms"
        )
    return flow


def _opened(corpus: Corpus, seed: int | None, flows: Sequence[Flow], generators: Sequence[str]) -> Session:
    known = plugins.names(GENERATORS)
    for name in generators:
        if name not in known:
            raise UnknownName(plugins.unknown("generator", name, known))
    session = corpus.read() or Session(seed=seed or 0, onnx=version("onnx"))
    if seed is not None and seed != session.seed:
        raise UsageError(
            f"the corpus {corpus.folder} has seed {session.seed}; leave --seed out, or give another folder with --corpus"
        )
    if session.onnx != version("onnx"):
        raise UsageError(
            f"the corpus {corpus.folder} was made with onnx {session.onnx}, and {version('onnx')} is here: its cases may be others; "
            "give another folder with --corpus"
        )
    for name in known:
        made = plugins.load(GENERATORS, name)()
        for flow in flows:
            arm = Arm(name, made.version, flow.name)
            before = session.arms.setdefault(arm.name, arm)
            if before.version != made.version:
                raise UsageError(
                    f"the corpus {corpus.folder} has cases of version {before.version} of generator {name!r}, and version {made.version} "
                    "is here; give another folder with --corpus"
                )
    return session


def read_session(corpus: Corpus) -> Session:
    """Raises UsageError where nothing was fuzzed yet."""
    session = corpus.read()
    if session is None:
        raise UsageError(f"nothing was fuzzed in {corpus.folder} yet: assay fuzz --flow FLOW --for 10m")
    return session


def possible_forms() -> frozenset[str]:
    """Every operator of the generators with each opset in which it changed: `Conv@11`."""
    from assay.generators.operators import forms
    from assay.generators.schemas import changes_of, schema_at

    return frozenset(f"{name}@{schema_at(name, opset).since_version}" for name in forms() for opset in changes_of(name))
