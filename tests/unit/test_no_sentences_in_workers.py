"""Workers record codes, numbers and names: no source that runs in one makes a sentence of what it notes or finds.

What a machine can see of it: texts of several words in the facts of a note or a finding; a warning that carries none; a `detail`; and a
field of a result that holds a text, and is not known here as a name or as words of others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import assay.errors
from assay.core.golden import GoldenLock
from assay.core.result import AnyResult
from assay.errors import Lowering
from assay.numerics.tolerance.derived_tolerance import Header
from raised_words import ERRORS, called, has_words, raised_words

SOURCE = Path(__file__).parents[2] / "packages" / "assay" / "src" / "assay"
IN_WORKERS = (
    "backends",
    "endpoints",
    "generators",
    "models",
    "mutation",
    "numerics",
    "onnx_to_torch",
    "task_metrics",
    "transforms",
    "worker",
)
NOTING = {"noted", "Note", "NativeWarning", "facts"}
WARNINGS = {"NoteWarning", "NativeText"}
NAMES = {
    "artifact_digest", "at", "backend_version", "branch", "case", "clock", "coarse", "code", "device", "digest", "dtype",
    "element", "engine", "flow", "format", "generator", "install", "job_digest", "job_key", "kind", "known", "layout", "library",
    "log_file", "name", "node", "off", "operator", "operators", "option", "original", "output", "outputs", "precision", "producer",
    "reads", "reasons", "reused", "rival", "role", "shape", "signal", "source", "started_at", "tensor", "tensors", "tolerance", "traces",
    "transform", "undelegated", "unit", "value", "version", "writes", "wrong", "attributes", "dtypes", "inputs", "kinds", "passes",
    "old_name", "rewritten", "effect", "floats",
}  # fmt: skip
"""Fields that hold a name, a path, a digest or a time, in any value."""
OF_OTHERS = {"log", "text", "texts", "values"}
"""Fields that hold what a library, a log or the model itself says, and values by name."""
LEFT = {
    "detail": "the driver makes it; a worker says `ended`",
    "observed_detail": "as `detail`",
}
"""Fields that hold a sentence all the same."""


def structs_of(kind: object, known_types: set[type]) -> set[type]:
    """The types of all values inside of `kind`, however deep."""
    info = kind if isinstance(kind, msgspec.inspect.Type) else msgspec.inspect.type_info(kind)
    parts = [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
    parts += [getattr(info, name) for name in ("item_type", "value_type") if hasattr(info, name)]
    if isinstance(info, msgspec.inspect.StructType) and info.cls not in known_types:
        known_types.add(info.cls)
        parts += [field.type for field in info.fields]
    for part in parts:
        structs_of(part, known_types)
    return known_types


FREE = {
    "EngineInfo": "options of a backend, by the backend's own names",
}
"""Types whose texts are put together of names."""
STRUCTS = {
    struct.__name__ for kind in (AnyResult, GoldenLock, Header) for struct in structs_of(kind, set())
} - FREE.keys()
"""Whatever a worker answers, and writes into goldens and tolerances."""


WORDS = re.compile(rf"\b({'|'.join({*STRUCTS, *NOTING, 'broken', 'warn', 'replace'})})\b")
"""A source in which none of them stands is not parsed, which takes most of the time."""


def sentences(source: str) -> Iterator[int]:
    """The lines where the facts of a note are words, or a warning is no note."""
    if not WORDS.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        given = [*node.args, *(word.value for word in node.keywords)]
        if called(node) in STRUCTS and any(has_words(argument, spaced=True) for argument in given):
            yield node.lineno
        if ((called(node) in NOTING or ast.unparse(node.func) == "broken") and any(map(has_words, given))) or (
            ast.unparse(node.func) == "warnings.warn"
            and not (isinstance(node.args[0], ast.Call) and called(node.args[0]) in WARNINGS)
        ):
            yield node.lineno
        if called(node) == "replace" and any(word.arg == "detail" for word in node.keywords):
            yield node.lineno


def worded_errors(source: str) -> Iterator[int]:
    """The lines where an error of ours is caught and made a text: it may hold a note, which is its `reason`."""
    for handler in ast.walk(ast.parse(source)) if "except" in source else ():
        if not isinstance(handler, ast.ExceptHandler) or not handler.name or handler.type is None:
            continue
        if ERRORS.isdisjoint(part.id for part in ast.walk(handler.type) if isinstance(part, ast.Name)):
            continue
        for node in ast.walk(handler):
            text = isinstance(node, ast.Call) and ast.unparse(node.func) in ("str", "exception_text") and node.args
            made = node.args[0] if text else node.value if isinstance(node, ast.FormattedValue) else None
            if isinstance(made, ast.Name) and made.id == handler.name:
                yield made.lineno


@pytest.mark.parametrize(
    "line",
    [
        'noted(NoteCode.NO_TRACE, error="the backend writes no profile")',
        'noted(NoteCode.NO_TRACE, error=f"not written: {error}")',
        'warnings.warn("no trace: not available", stacklevel=2)',
        "msgspec.structs.replace(empty_result(job), detail=text)",
        'warnings.warn(f"{backend} has no trace", stacklevel=2)',
        'InputRange(0, 1, operator="tried on the reference")',
        "UntakenBranch(node, f\"{node.op_type} '{node.name}'\")",
        'Defect(kind, f"last channel lost at {node}")',
        'Finding("service", "text", code, facts(expected=f"at most {bound}"))',
        'broken("draws", f"at most {bound}", seen)',
    ],
)
def test_it_is_found(line: str) -> None:
    assert set(sentences(line)) == {1}


@pytest.mark.parametrize(
    "line",
    [
        "noted(NoteCode.NO_TRACE, error=str(error))",
        "warnings.warn(NoteWarning(note), stacklevel=2)",
        'noted(NoteCode.TIES, count=1, at="y")',
    ],
)
def test_codes_and_names_are_right(line: str) -> None:
    assert not list(sentences(line))


@pytest.mark.heavy
def test_no_worker_makes_a_sentence_of_what_it_notes() -> None:
    sources = [path for room in IN_WORKERS for path in (SOURCE / room).rglob("*.py")]
    assert len(sources) > 300
    places = [f"{path}:{line}" for path in sources for line in sentences(path.read_text(encoding="utf-8"))]
    assert not places, f"note a code, and add its sentence to judge/words/note_text.py: {places}"


@pytest.mark.parametrize(
    "line",
    [
        'raise Lowering("nothing here is a number")',
        "raise Unsupported(f\"no kernel for '{name}'\", cause='other')",
        "raise BadInputs(f'at {sizes} {error}') from error",
        'raise Unsupported(noted(NoteCode.NO_TAPS, format=f"a {form} of another kind"))',
    ],
)
def test_a_raised_sentence_is_found(line: str) -> None:
    assert list(raised_words(line)) == [1]


@pytest.mark.parametrize("made", ["f'at {size}: {error}'", "str(error)"])
def test_a_caught_error_that_is_made_a_text_is_found(made: str) -> None:
    assert list(worded_errors(f"try:\n    run()\nexcept Lowering as error:\n    say({made})")) == [4]
    assert not list(worded_errors(f"try:\n    run()\nexcept ValueError as error:\n    say({made})"))
    assert not list(worded_errors("try:\n    run()\nexcept Lowering as error:\n    say(error.reason)"))


def test_no_error_of_ours_is_made_a_text_in_a_worker() -> None:
    sources = [path for room in IN_WORKERS for path in (SOURCE / room).rglob("*.py")]
    places = [f"{path}:{line}" for path in sources for line in worded_errors(path.read_text(encoding="utf-8"))]
    assert not places, f"hand on its `reason`, which is a note or its words: {places}"


def test_a_raised_note_is_right() -> None:
    assert not list(raised_words("raise Unsupported(noted(NoteCode.NO_TAPS, format=form), cause='other')"))


RAISE_NOTES = (
    "backends", "worker", "numerics/shapes", "onnx_to_torch", "task_metrics", "transforms", "models/calibration_samples.py",
    "models/conversion.py", "models/dynamic_ranges.py", "models/examination", "models/external_data.py", "models/golden_checks.py",
    "models/golden_samples.py", "models/goldens.py", "models/onnx_file.py", "models/own_data", "models/program.py",
    "models/program_archive.py", "models/program_check.py", "models/program_source_check.py", "models/random_inputs.py",
    "models/sources.py", "models/sources_factory.py", "models/tensor_part.py", "models/tensors.py",
)  # fmt: skip
"""Rooms whose errors are all notes or codes, Python's own among them. Of all others those that a worker can come to are
(`test_no_sentences_reached`)."""
REFUSE_WITH_NOTES = ("generators", "mutation", "numerics")
"""Rooms whose refusals and failures (what becomes the outcome of a job) are notes. A wrong use is found before a worker is there."""
OUTCOMES = {name for name, var in vars(assay.errors).items() if isinstance(var, type) and issubclass(var, Lowering)}


@pytest.mark.heavy
def test_no_worker_raises_a_sentence() -> None:
    sources = [
        path
        for room in RAISE_NOTES
        for path in ((SOURCE / room).rglob("*.py") if (SOURCE / room).is_dir() else [SOURCE / room])
    ]
    assert len(sources) > 150
    places = [f"{path}:{line}" for path in sources for line in raised_words(path.read_text(encoding="utf-8"))]
    assert not places, f"raise a note, and add its sentence to judge/refusals: {places}"


@pytest.mark.heavy
def test_no_refusal_of_our_own_arithmetic_is_a_sentence() -> None:
    assert {"Lowering", "Unsupported", "InvalidModel"} <= OUTCOMES
    assert list(raised_words('raise Unsupported(f"no kernel for {name}", node=label)', OUTCOMES)) == [1]
    assert not list(raised_words('raise UsageError(f"unknown precision {name}")', OUTCOMES))
    sources = [path for room in REFUSE_WITH_NOTES for path in (SOURCE / room).rglob("*.py")]
    assert len(sources) > 150
    places = [f"{path}:{line}" for path in sources for line in raised_words(path.read_text(encoding="utf-8"), OUTCOMES)]
    assert not places, f"raise a note, and add its sentence to judge/refusals: {places}"


def test_no_rule_of_shapes_makes_a_sentence() -> None:
    calls = [
        node
        for path in (SOURCE / "numerics").rglob("*.py")
        if re.search("Conflict|equal|Constraint", source := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and called(node) in ("Conflict", "equal", "Constraint")
    ]
    assert len(calls) > 50
    assert not [
        ast.unparse(node) for node in calls if any(map(has_words, [*node.args, *(w.value for w in node.keywords)]))
    ]


def texts_of(kind: object, at: str = "", seen: set[type] | None = None) -> Iterator[str]:
    """The names of all fields that hold texts, however deep."""
    seen = set() if seen is None else seen
    info = kind if isinstance(kind, msgspec.inspect.Type) else msgspec.inspect.type_info(kind)
    match info:
        case msgspec.inspect.StrType():
            yield at
        case msgspec.inspect.StructType(cls=cls, fields=fields) if cls not in seen:
            seen.add(cls)
            for field in fields:
                yield from texts_of(field.type, field.name, seen)
        case msgspec.inspect.UnionType(types=types):
            for one in types:
                yield from texts_of(one, at, seen)
        case msgspec.inspect.VarTupleType(item_type=item) | msgspec.inspect.ListType(item_type=item):
            yield from texts_of(item, at, seen)
        case msgspec.inspect.TupleType(item_types=types):
            for one in types:
                yield from texts_of(one, at, seen)
        case msgspec.inspect.DictType(value_type=value):
            yield from texts_of(value, "values", seen)
        case _:
            return


def test_every_text_of_a_result_is_a_name_or_the_words_of_others() -> None:
    names_seen = set(texts_of(AnyResult))
    assert LEFT.keys() <= names_seen, "what holds no sentence any more is taken off the list"
    assert names_seen >= NAMES | OF_OTHERS, "what is no field any more is taken off the list"
    new = names_seen - NAMES - OF_OTHERS - LEFT.keys()
    assert not new, f"record a code, and make the words of it; a name is added to NAMES: {sorted(new)}"
