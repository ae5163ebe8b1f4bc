"""What every transform must do, run in this process on a tiny model: call it in the tests of a plug-in."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from assay.core.dtype import is_floating
from assay.errors import AssayError, Lowering, UsageError
from assay.judge.words.missing_text import missing_text
from assay.models.files import file_digest
from assay.models.telemetry import GUARD, forbid_telemetry
from assay.ports import Availability, PartlyCalibrated, Tensor, Tensors, Transform, needs_samples
from assay.testing.tiny_models import INPUT, tiny_expected, tiny_model

LEAST_SQNR_DB = {"": 100.0, "float16": 50.0, "bfloat16": 30.0, "int8": 20.0}
"""How near the tiny model stays to itself, by the precision that a transform brings: well below what good ones reach."""
SAMPLES = 8


def check_transform(
    transform: Transform, *, arguments: Sequence[str] = ("",), unknown: str = "no-such-argument"
) -> None:
    """Raises AssertionError with a sentence that says which promise of `assay.ports.Transform` was broken.

    `arguments` are those it knows, `unknown` one that it does not. Only transforms of ONNX files are run; those of another
    form are asked for their names and availability.
    """
    _check_names(transform)
    _check_availability(transform)
    forbid_telemetry()
    transform.prepare()
    if transform.accepts != "onnx":
        return
    with tempfile.TemporaryDirectory(prefix="assay-check-") as name:
        folder = Path(name)
        model = tiny_model(folder / "tiny.onnx")
        samples = _samples(SAMPLES)
        for argument in arguments:
            _check_rewriting(transform, model, argument, samples, folder)
        _check_refusals(transform, model, samples, folder, unknown, arguments[0])


def _check_names(transform: Transform) -> None:
    assert transform.name, "The transform has no name."
    for mark in ":+@|":
        assert mark not in transform.name, f"The name {transform.name!r} holds {mark!r}, which separates names."
    known = transform.precision == "" or transform.precision.startswith("int") or is_floating(transform.precision)
    assert known, f"{transform.name}: precision {transform.precision!r} is no type that is known."
    assert isinstance(transform.calibrated, bool), f"{transform.name}: calibrated is {transform.calibrated!r}."
    if isinstance(transform, PartlyCalibrated):
        right = isinstance(transform.uncalibrated, tuple) and (transform.calibrated or not transform.uncalibrated)
        assert right, (
            f"{transform.name}: uncalibrated is {transform.uncalibrated!r}, where calibrated is {transform.calibrated}."
        )


_PROBE = """
import importlib, msgspec, sys
import assay.core.dtype, assay.errors, assay.ports
usual = {name.partition(".")[0] for name in sys.modules}
transform = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])()
found = transform.availability()
packages = {name.partition(".")[0] for name in sys.modules} - usual - sys.stdlib_module_names
print(msgspec.json.encode((found, sorted(packages - {sys.argv[1].partition(".")[0]}))).decode())
"""


def _check_availability(transform: Transform) -> None:
    """In a fresh interpreter: in this one the library may have been imported long ago."""
    kind = type(transform)
    command = [sys.executable, "-c", GUARD + _PROBE, kind.__module__, kind.__qualname__]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{transform.name} cannot be imported and asked whether it is available: {done.stderr}"
    here, packages = msgspec.json.decode(done.stdout.splitlines()[-1], type=tuple[Availability, list[str]])
    assert here.available, f"{transform.name} is not available here: {missing_text(here)}"
    names = ", ".join(packages)
    assert not packages, f"{transform.name} imports {names} before prepare(); the driver must not carry it."


def _check_rewriting(
    transform: Transform, model: Path, argument: str, samples: Sequence[Tensors], folder: Path
) -> None:
    text = f"{transform.name}:{argument}" if argument else transform.name
    before = file_digest(model)
    written = [_apply(transform, model, argument, samples, folder) for _ in range(2)]
    assert file_digest(model) == before, f"{text} changed the model it was given."
    for path in written:
        assert path.is_file(), f"{text} wrote nothing at the path that it returned."
        assert path.resolve().is_relative_to(folder.resolve()), f"{text} wrote outside of its folder."
    first, second = map(file_digest, written)
    assert first == second, f"{text} writes another model each time: nobody could repeat what was verified."
    image = {INPUT: np.random.default_rng(99).normal(size=(5, 3, 8, 8)).astype(np.float32)}
    _check_near(transform, text, written[0], image)


def _check_near(transform: Transform, text: str, written: Path, image: Tensors) -> None:
    from assay.worker.reference.reference_evaluation import QUANTIZED, evaluate

    (answers,) = evaluate(written, [_as_declared(written, image)], oracles=QUANTIZED)
    right = tiny_expected(image[INPUT])
    assert list(answers) == list(right), f"{text}: outputs are {list(answers)}, the model's are {list(right)}."
    for name, expected in right.items():
        if expected.dtype.kind != "f":
            continue
        error = answers[name].astype(np.float64) - expected
        sqnr_db = 10 * np.log10(np.sum(expected.astype(np.float64) ** 2) / max(np.sum(error**2), 1e-300))
        least = LEAST_SQNR_DB.get(transform.precision, 10.0)
        assert sqnr_db > least, f"{text}: output {name!r} is {sqnr_db:.1f} dB from the model's, less than {least:.0f}."


def _as_declared(written: Path, image: Tensors) -> dict[str, Tensor]:
    import onnx

    (declared,) = onnx.load(written, load_external_data=False).graph.input
    dtype = onnx.helper.tensor_dtype_to_np_dtype(declared.type.tensor_type.elem_type)
    return {name: array.astype(dtype) for name, array in image.items()}


def _check_refusals(
    transform: Transform, model: Path, samples: Sequence[Tensors], folder: Path, unknown: str, known: str
) -> None:
    def applied(model_path: Path, argument: str, calibration: Sequence[Tensors]) -> Callable[[], object]:
        return lambda: _apply(transform, model_path, argument, calibration, folder)

    noise = folder / "noise.onnx"
    noise.write_bytes(b"this is not a model" * 20)
    _raises(Lowering, "a file that is no model", applied(noise, known, samples), transform)
    if unknown:
        _raises(UsageError, f"the argument {unknown!r}", applied(model, unknown, samples), transform)
    if needs_samples(transform, known):
        _raises(UsageError, "no samples at all", applied(model, known, ()), transform)


def _apply(transform: Transform, model: Path, argument: str, samples: Sequence[Tensors], folder: Path) -> Path:
    own = Path(tempfile.mkdtemp(prefix="transform-", dir=folder))
    return transform.apply(model, own, argument, samples if needs_samples(transform, argument) else ())


def _raises(kind: type[AssayError], what: str, action: Callable[[], object], transform: Transform) -> None:
    try:
        action()
    except kind as error:
        caught = error
    except (AssayError, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise AssertionError(
            f"{transform.name}: for {what} {kind.__name__} was expected, not {type(error).__name__}: {error}"
        ) from error
    else:
        raise AssertionError(f"{transform.name} accepted {what}; {kind.__name__} was expected.")
    assert str(caught).strip(), f"{transform.name}: {kind.__name__} for {what} says nothing."


def _samples(count: int) -> list[dict[str, Tensor]]:
    stream = np.random.default_rng(7)
    return [{INPUT: stream.normal(size=(1, 3, 8, 8)).astype(np.float32)} for _ in range(count)]
