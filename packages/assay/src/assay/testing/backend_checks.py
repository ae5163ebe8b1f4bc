"""What every backend must do, run in this process on tiny models: call it in the tests of a plug-in."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from assay.core.flow import Flow
from assay.errors import AssayError, InvalidModel, Lowering, NotRunnable, Unavailable, Unsupported, UsageError
from assay.judge.words.missing_text import missing_text
from assay.models.conversion import convert_to
from assay.models.telemetry import GUARD, forbid_telemetry
from assay.ports import Availability, Backend, BuiltForSizes, Engine, Tensor, has_integers, is_dynamic
from assay.testing.ability_checks import check_backend_abilities, check_engine_abilities, check_start, identical
from assay.testing.tiny_models import (
    BATCH,
    INPUT,
    INTEGER_OUTPUT,
    OUTPUTS,
    broken_model,
    tiny_expected,
    tiny_model,
    unknown_operator_model,
)


def check_backend(backend: Backend, *, model_path: Path | None = None, feeds: dict[str, Tensor] | None = None) -> None:
    """Raises AssertionError with a sentence that says which promise of `assay.ports.Backend` was broken.

    With `model_path` and `feeds` that model too is lowered, run, saved, loaded and run again. Native code that dies
    takes this process with it: run the check under a test runner that you can afford to lose.
    """
    _check_names(backend)
    check_backend_abilities(backend)
    _check_availability(backend)
    forbid_telemetry()
    backend.prepare()
    with tempfile.TemporaryDirectory(prefix="assay-check-") as name:
        folder = Path(name)
        tiny = _delivered(backend, tiny_model(folder / "tiny.onnx", integers=has_integers(backend)))
        for flow in backend.flows:
            # What the transforms of a flow do is `check_transform`'s business; the backend's is its options.
            if flow.options.get("fault", "none") == "none" and not flow.transforms:
                _check_flow(backend, flow, tiny, folder)
        if model_path is not None:
            _check_round_trip(backend, backend.flows[0], model_path, feeds or {}, folder / "given")
        _check_refusals(backend, folder, tiny)


def _check_names(backend: Backend) -> None:
    assert backend.name, "The backend has no name."
    assert backend.flows, f"{backend.name} offers no flow."
    names = [flow.name for flow in backend.flows]
    assert len(set(names)) == len(names), f"{backend.name} offers a flow name twice: {names}."
    known = {spec.name: spec for spec in backend.options}
    assert len(known) == len(backend.options), f"{backend.name} has two options of one name."
    for spec in backend.options:
        fits = not spec.choices or spec.default in spec.choices
        assert fits, f'The default of option "{spec.name}" is not among its choices.'
    for flow in backend.flows:
        assert flow.backend == backend.name, f'Flow "{flow.name}" names backend "{flow.backend}", not "{backend.name}".'
        unknown = set(flow.options) - set(known)
        assert not unknown, f'Flow "{flow.name}" sets options that {backend.name} does not have: {sorted(unknown)}.'
        for option, value in flow.options.items():
            allowed = known[option].choices
            assert not allowed or value in allowed, f'Flow "{flow.name}" sets {option}={value!r}, which is no choice.'


_PROBE = """
import importlib, msgspec, sys
import assay.core.dtype, assay.errors, assay.ports
usual = {name.partition(".")[0] for name in sys.modules}
backend = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])()
found = backend.availability()
packages = {name.partition(".")[0] for name in sys.modules} - usual - sys.stdlib_module_names
print(msgspec.json.encode((found, sorted(packages - {sys.argv[1].partition(".")[0]}))).decode())
"""


def _check_availability(backend: Backend) -> None:
    """In a fresh interpreter: in this one the library may have been imported long ago."""
    kind = type(backend)
    command = [sys.executable, "-c", GUARD + _PROBE, kind.__module__, kind.__qualname__]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{backend.name} cannot be imported and asked whether it is available: {done.stderr}"
    here, packages = msgspec.json.decode(done.stdout.splitlines()[-1], type=tuple[Availability, list[str]])
    assert here.available, f"{backend.name} is not available here: {missing_text(here)}"
    names = ", ".join(packages)
    assert not packages, f"{backend.name} imports {names} before prepare(); the driver must not carry it."


def _check_flow(backend: Backend, flow: Flow, tiny: Path, folder: Path) -> None:
    for batch in (1, 3):
        # Where shapes are compiled in, it is told them, as the case and the samples tell the worker.
        fed = (
            {f"{INPUT}[0]": (batch, batch, batch)} if isinstance(backend, BuiltForSizes) and backend.needs_sizes else {}
        )
        flow = msgspec.structs.replace(flow, dims={BATCH: (1, batch, 3)}, sample_sizes=fed)
        image = np.random.default_rng(batch).normal(size=(batch, 3, 8, 8)).astype(np.float32)
        try:
            outputs = _check_round_trip(backend, flow, tiny, {INPUT: image}, folder / f"{flow.name}-{batch}")
        except Unavailable as error:
            _check_advice(flow, str(error))
            return
        except NotRunnable:
            _check_lowered(backend, flow, tiny, image, folder / f"{flow.name}-lowered")
            return
        declared = [name for name in OUTPUTS if name != INTEGER_OUTPUT or has_integers(backend)]
        assert list(outputs) == declared, f"{flow.name}: outputs are {list(outputs)}, the model's are {declared}."
        expected = tiny_expected(image)
        for name in declared:
            _check_output(flow, name, outputs[name], expected[name])
    _check_other_sizes(backend, flow, tiny)
    if flow.name == backend.flows[0].name:
        check_start(backend, flow, tiny, {INPUT: image})


def _delivered(backend: Backend, model: Path) -> Path:
    """The model in the form that the backend reads, as the worker delivers it."""
    return convert_to(model, backend.accepts, model.parent)


def _check_advice(flow: Flow, text: str) -> None:
    assert "install" in text, f"{flow.name}: lower() does not say what to install: {text}"


def _check_lowered(backend: Backend, flow: Flow, tiny: Path, image: Tensor, folder: Path) -> None:
    """What runs it is not here: then there is an artifact all the same, and what cannot be run says so."""
    try:
        engine = backend.lower(tiny, flow)
    except NotRunnable as error:
        raise AssertionError(f"{flow.name}: lower() raised NotRunnable; only load() and run() may: {error}") from error
    assert engine.facts().backend_version, f"{flow.name}: facts() before a run do not report the backend's version."
    folder.mkdir()
    engine.save(folder)
    assert any(folder.iterdir()), f"{flow.name}: save() left the folder empty."
    _raised(
        NotRunnable,
        "the saved artifact of a flow that cannot run here",
        lambda: backend.load(folder, flow).run({INPUT: image}),
    )


def _check_output(flow: Flow, name: str, got: Tensor, expected: Tensor) -> None:
    assert got.shape == expected.shape, f'{flow.name}: output "{name}" is {got.shape}, the model says {expected.shape}.'
    floating = expected.dtype.kind == "f"
    dtype = np.dtype(np.float64) if floating and flow.precision == "float64" else expected.dtype
    assert got.dtype == dtype, f'{flow.name}: output "{name}" is {got.dtype}, the model says {dtype}.'
    if floating:
        coarse = flow.precision in ("bfloat16", "float16", "int8")
        far = np.abs(got.astype(np.float64) - expected).max() / np.abs(expected).max()
        assert far < (3e-2 if coarse else 1e-5), (
            f'{flow.name}: output "{name}" is off by {far:.1e} of its largest value.'
        )


def _check_round_trip(
    backend: Backend, flow: Flow, model: Path, feeds: dict[str, Tensor], folder: Path
) -> dict[str, Tensor]:
    engine = backend.lower(model, flow)
    _check_ownership(flow, engine, feeds)
    before = engine.run(feeds)
    again = engine.run(feeds)
    folder.mkdir()
    engine.save(folder)
    assert any(folder.iterdir()), f"{flow.name}: save() left the folder empty."
    loaded = backend.load(folder, flow)
    after = loaded.run(feeds)
    assert list(before) == list(after), f"{flow.name}: outputs are {list(before)}, after save and load {list(after)}."
    for name, array in before.items():
        assert identical(array, again[name]), f'{flow.name}: output "{name}" differs between two runs.'
        assert identical(array, after[name]), (
            f'{flow.name}: output "{name}" is not bit by bit the same after save and load.'
        )
    check_engine_abilities(flow, loaded, feeds, after)
    facts = loaded.facts()
    assert facts.backend_version, f"{flow.name}: facts() do not report the backend's version."
    # An approved engine is run again only by the version that built it: what both tell is compared.
    here = backend.availability().version
    assert facts.backend_version == here, (
        f"{flow.name}: facts() report version {facts.backend_version} and availability() {here}: they must be of one library."
    )
    assert facts.precision, f"{flow.name}: facts() do not report the actual precision."
    return before


def _check_ownership(flow: Flow, engine: Engine, feeds: dict[str, Tensor]) -> None:
    """Inputs stay the caller's, and so does an answer."""
    copies = {name: array.copy() for name, array in feeds.items()}
    answer = engine.run(copies)
    kept = {name: array.copy() for name, array in answer.items()}
    for name, array in copies.items():
        assert identical(array, feeds[name]), f'{flow.name}: run() writes into its input "{name}".'
    engine.run({name: array[..., ::-1].copy() for name, array in feeds.items()})
    for name, array in answer.items():
        assert identical(array, kept[name]), f'{flow.name}: a later run() changes output "{name}", handed out before.'


def _check_other_sizes(backend: Backend, flow: Flow, tiny: Path) -> None:
    """One engine at other sizes. No images: no answers, or a refusal; what may not happen is that the process dies."""
    engine = backend.lower(tiny, flow)
    for batch in (1, 2) if is_dynamic(backend) else ():
        image = np.random.default_rng(batch).normal(size=(batch, 3, 8, 8)).astype(np.float32)
        outputs, expected = engine.run({INPUT: image}), tiny_expected(image)
        for name in outputs:
            _check_output(flow, name, outputs[name], expected[name])
    try:
        outputs = engine.run({INPUT: np.zeros((0, 3, 8, 8), np.float32)})
    except (Lowering, ValueError, RuntimeError):
        return
    for name in outputs:
        assert outputs[name].shape[0] == 0, f'{flow.name}: output "{name}" has answers for a batch of none.'


def _check_refusals(backend: Backend, folder: Path, tiny: Path) -> None:
    flow = backend.flows[0]
    unknown = unknown_operator_model(folder / "unknown.onnx")
    error = _raised(
        Unsupported, "an operator that does not exist", lambda: backend.lower(_delivered(backend, unknown), flow)
    )
    assert isinstance(error, Unsupported)
    assert error.cause == "operator_unsupported", f"{backend.name}: an unknown operator has the cause {error.cause}."
    broken = broken_model(folder / "broken.onnx")
    _raised(
        InvalidModel,
        "a graph that reads a tensor that nothing makes",
        lambda: backend.lower(_delivered(backend, broken), flow),
    )
    noise = folder / f"noise.{'onnx' if backend.accepts == 'onnx' else 'pt2'}"
    noise.write_bytes(b"this is not a model" * 20)
    _raised(InvalidModel, "a file that is no model", lambda: backend.lower(noise, flow))
    odd = Flow(name="odd", backend=backend.name, options={"no-such-option": 1})
    text = str(_raised(UsageError, "an option it does not have", lambda: backend.lower(tiny, odd)))
    assert "no-such-option" in text, f"{backend.name}: the error does not name the unknown option: {text}"
    for spec in backend.options:
        bad = Flow(name="bad", backend=backend.name, options={spec.name: "no-such-value" if spec.choices else ["x"]})  # type: ignore[dict-item]
        text = str(_raised(UsageError, f"a bad value of {spec.name}", lambda bad=bad: backend.lower(tiny, bad)))  # type: ignore[misc]
        assert spec.name in text, f'{backend.name}: the error does not name the option "{spec.name}": {text}'


def _raised(kind: type[Exception], what: str, action: Callable[[], object]) -> Exception:
    try:
        action()
    except kind as error:
        caught = error
    except (AssayError, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise AssertionError(f"For {what} {kind.__name__} was expected, not {type(error).__name__}: {error}") from error
    else:
        raise AssertionError(f"{what[0].upper()}{what[1:]} was accepted; {kind.__name__} was expected.")
    assert str(caught).strip(), f"{kind.__name__} for {what} says nothing."
    return caught
