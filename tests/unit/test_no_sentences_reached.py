"""No function that a worker can come to raises an exception with a sentence, or fills a field of a record with one. Which these are is
read from the sources, so that reading of models and of options that the driver does alone may raise its sentences."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from raised_words import raised_words
from reached_in_workers import Reached, Sources
from worded_records import handed_on, records_of, worded_fields

SOURCE = Path(__file__).parents[2] / "packages" / "assay" / "src" / "assay"
ROOTS = ("worker", "task_metrics", "numerics/operators", "numerics/oracle")
"""Rooms that a worker starts with, or finds by computed names."""
GROUPS = ("assay.backends", "assay.transforms", "assay.job_handlers", "assay.generators")
"""Plug-ins of ours that it loads by their entry points."""
STRANGERS = "assay.testing"
"""Backends that play a stranger's raise words, as strangers may."""


def modules(room: str) -> list[str]:
    names = (path.relative_to(SOURCE.parent).with_suffix("").parts for path in (SOURCE / room).rglob("*.py"))
    return [".".join(parts).removesuffix(".__init__") for parts in names]


def plugins() -> list[tuple[str, str]]:
    entry_points = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    pairs = (point.partition(":")[::2] for group in GROUPS for point in entry_points[group].values())
    return [(module, name) for module, name in pairs]


@pytest.fixture(scope="module")
def reached() -> Reached:
    return Reached(Sources(SOURCE, "assay"), [*(module for room in ROOTS for module in modules(room)), *plugins()])


@pytest.fixture(scope="module")
def trees(reached: Reached) -> dict[str, ast.Module]:
    return {module: tree for module, tree in reached.trees().items() if not module.startswith(STRANGERS)}


@pytest.mark.heavy
def test_no_function_that_a_worker_reaches_raises_a_sentence(reached: Reached, trees: dict[str, ast.Module]) -> None:
    places = [
        f"{module}:{line}"
        for module, tree in trees.items()
        for line in raised_words(tree)
        if reached.runs(module, line)
    ]
    assert not places, f"raise a note, and add its sentence to judge/refusals: {places}"


FOR_READERS = {
    "MutationOperator.stands_for", "MutationOperator.knob", "OptionSpec.help", "Schedule.fed", "Schedule.suspect", "TaskFigure.meaning",
    "TaskLabel.meaning", "TaskMetric.reads", "Way.asked", "Way.suspect",
}  # fmt: skip
"""Tables with words that the driver and the manual read for themselves: no worker hands them on."""
NO_SENTENCES = {
    "Availability.install": "a command",
    "Availability.version": "the name of a library, and its version",
    "EngineInfo.options": "options of a backend, by the backend's own names",
    "Line.text": "what TensorRT says, with its own code",
    "Scheduled.found": "a count of so many kernels, among the options of an engine",
}


@pytest.mark.heavy
def test_no_record_that_a_worker_makes_has_a_sentence(reached: Reached, trees: dict[str, ast.Module]) -> None:
    records = {name: record for tree in trees.values() for name, record in records_of(tree).items()}
    lines_by_field: dict[str, list[str]] = {}
    for module, tree in trees.items():
        for field, line in worded_fields(tree, records):
            if reached.runs(module, line):
                lines_by_field.setdefault(field, []).append(f"{module}:{line}")
    known = FOR_READERS | NO_SENTENCES.keys()
    assert not (new := lines_by_field.keys() - known), (
        f"give a note or a code: {[(name, lines_by_field[name]) for name in sorted(new)]}"
    )
    assert known == lines_by_field.keys(), "what holds no words any more is taken off the list"


@pytest.mark.heavy
def test_no_note_is_given_words_of_a_table(reached: Reached, trees: dict[str, ast.Module]) -> None:
    fields = {name.partition(".")[2] for name in FOR_READERS}
    places = [
        f"{module}:{line}"
        for module, tree in trees.items()
        for line in handed_on(tree, fields)
        if reached.runs(module, line)
    ]
    assert not places, f"give the name, and make the words of it in judge/refusals: {places}"


def test_words_in_a_record_are_found() -> None:
    base = "class Base:\n    name: str\n\nclass Here(Base):\n    reason: str = ''\n\nclass Outer:\n    parts: tuple\n\n"
    made = "Outer((Here('x', f'{a} is not here'),))\nHere('two words', reason=note)\nnoted(CODE, needs=table.help, at=node.name)"
    tree = ast.parse(base + made)
    assert list(worded_fields(tree, {})) == [("Here.name", 11), ("Here.reason", 10)]
    assert list(handed_on(tree, {"help"})) == [12]
    assert not list(handed_on(tree, {"needs"}))


@pytest.mark.parametrize(
    ("unit", "is_reached"),
    [
        (("assay.models.own_data.fit", "calls_of"), True),
        (("assay.models.goldens", "read_lock"), True),
        (("assay.backends.iree.backend", "IREE.lower"), True),
        (("assay.endpoints.connection", "Connection.post"), True),
        (("assay.endpoints.fetch", "fetched"), False),
        (("assay.models.checkpoints.read_folder", "read_folder"), False),
        (("assay.models.named_sources.git_revision", "_reason"), False),
        (("assay.config.value_types", ""), False),
        (("assay.mutation.windows", "OPERATORS"), True),
    ],
)
def test_what_the_driver_alone_does_is_known(reached: Reached, unit: tuple[str, str], *, is_reached: bool) -> None:
    assert (unit in reached.units) == is_reached


def test_a_function_is_reached_however_it_is_named(tmp_path: Path) -> None:
    for name, text in {
        "root": "from p.b import f as g\nfrom p import c as other\n\ndef main(x):\n    g(); other.h(); x.method()\n",
        "b": "from p import c\nfrom p.d import Kind\nTABLE = {1: in_table}\n\ndef f():\n    TABLE; Kind()\n\ndef in_table(): c.k()\n\n"
        "def alone(): pass\n",
        "c": "def h(): pass\n\ndef k(): pass\n\ndef alone(): pass\n\n@kept\ndef registered(): pass\n",
        "d": "class Kind:\n    def method(self): pass\n    def other(self): pass\n\nclass Unborn:\n    def method(self): pass\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "__init__.py").write_text("")
    units = Reached(Sources(tmp_path, "p"), [("p.root", "main")]).units
    names = {f"{module}.{name}".removeprefix("p.") for module, name in units if name}
    assert names == {"root.main", "b.f", "b.TABLE", "b.in_table", "c.h", "c.k", "d.Kind", "d.Kind.method"}
    assert ("p.c", "") in units
    (tmp_path / "root.py").write_text("from p import c\n\ndef main():\n    use([c])\n")
    assert ("p.c", "alone") in Reached(Sources(tmp_path, "p"), [("p.root", "main")]).units
