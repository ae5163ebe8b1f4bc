"""The parts of a submission: what is missing or wrong is told all at once, with the line."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from assay_zoo.artifacts.check_artifacts import check_artifacts
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.intake import take_in
from assay_zoo.metadata import Metadata
from assay_zoo.repository import read_policy
from assay_zoo.services import open_tools
from assay_zoo.submission import SubmissionContext
from zoo_submission import METADATA, make_zoo

pytestmark = pytest.mark.usefixtures("warm_readers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_zoo(tmp_path / "zoo")


def checked(folder: Path) -> list[Check]:
    """What the group of checks holds against the submission."""
    root = folder.parents[1]
    history = root / ".assay"
    history.mkdir()
    with open_tools(root, str(history)) as tools:
        intake = take_in(folder, tools.scratch / "in")
        try:
            metadata = Metadata.model_validate(tomllib.loads((folder / "metadata.toml").read_text()))
        except (OSError, ValueError, RecursionError):
            metadata = None
        place = SubmissionContext(
            folder=intake.folder,
            root=root,
            policy=read_policy(root),
            metadata=metadata,
            intake=intake,
            name=folder.name,
        )
        checks = check_artifacts(place, tools)
    assert {check.name for check in checks} >= {"artifacts.parts", "artifacts.metadata", "artifacts.sources"}
    return [check for check in checks if check.outcome is not CheckOutcome.PASSED]


def told(folder: Path) -> list[tuple[str, str, int]]:
    return [(check.name.partition(".")[2], check.path, check.line) for check in checked(folder)]


def change(file: Path, old: str, put: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, put))


def line_of(text: str) -> int:
    return METADATA.splitlines().index(text) + 1


def test_a_whole_submission_has_all(folder: Path) -> None:
    assert told(folder) == []


def test_everything_that_is_missing_is_told_at_once(folder: Path) -> None:
    for name in ("README.md", "inference.ipynb", "preprocess.py", "model.onnx", "test_data_set_0/output_0.pb"):
        (folder / name).unlink()
    missing = sorted(path for name, path, _ in told(folder) if name in ("parts", "samples"))
    assert missing == ["README.md", "inference.ipynb", "model.onnx", "preprocess.py", "test_data_set_0/output_0.pb"]


def test_without_metadata_the_usual_names_are_looked_for(folder: Path) -> None:
    for name in ("metadata.toml", "validation.ipynb"):
        (folder / name).unlink()
    change(folder / "README.md", "## License", "## Something")
    assert told(folder) == [
        ("parts", "metadata.toml", 0), ("parts", "validation.ipynb", 0), ("readme", "README.md", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "put", "line", "says"),
    [
        ('version = "1.0"', 'version = "one"', line_of('version = "1.0"'), "must match"),
        ("opset = 17", 'opset = "seventeen"', line_of("opset = 17"), "must be a whole number"),
        ("opset = 17", "opset = 17\nopsett = 1", line_of("opset = 17") + 1, "is no known key; the nearest is 'opset'"),
        ('dtype = "float32"\nshape = ["n", 2]\n\n[[out', 'dtype = "float"\nshape = ["n", 2]\n\n[[out',
         line_of("[[inputs]]") + 2, "the nearest is 'float64'"),
        ('scenario = "sums"', 'scenario = "sum"', line_of('scenario = "sums"'), "the nearest is 'sums'"),
        ('metric = "share"', 'metric = "top1"', line_of('metric = "share"'), "asks for 'share'"),
        ('name = "adder"', 'name = "other"', 1, "its folder is 'adder'"),
        ("opset = 17", 'opset = 17\npreprocessing = "../p.py"', line_of("opset = 17") + 1, "outside of the submission"),
        ('read = "output:share"', "", line_of("[accuracy]"), "is missing"),
        ('version = "1.0"', 'version = "1.0', line_of('version = "1.0"'), "not valid TOML"),
        ('version = "1.0"', "version = " + "[" * 5000, 0, "nested too deeply"),
        ('version = "1.0"', f"version = 1{'0' * 5000}", line_of('version = "1.0"'), "a number has 5001 digits"),
    ],
)  # fmt: skip
def test_metadata_are_held_against_the_schema_with_their_line(
    folder: Path, old: str, put: str, line: int, says: str
) -> None:
    change(folder / "metadata.toml", old, put)
    (check,) = [found_check for found_check in checked(folder) if found_check.name == "artifacts.metadata"]
    assert says in check.sentence
    assert (check.path, check.line) == ("metadata.toml", line)
    assert str(folder.parents[1]) not in check.sentence


def test_several_mistakes_are_told_in_the_order_of_their_lines(folder: Path) -> None:
    for old, put in (
        ('version = "1.0"', "version = 1"),
        ("opset = 17", "opset = 0"),
        ('title = "Adds"', 'title = ""'),
    ):
        change(folder / "metadata.toml", old, put)
    lines = [check.line for check in checked(folder) if check.name == "artifacts.metadata"]
    assert lines == [2, 3, line_of("opset = 17")]


def test_a_section_of_the_readme_that_differs_is_named(folder: Path) -> None:
    change(folder / "README.md", "Adds a number to itself.", "Multiplies.")
    (check,) = checked(folder)
    assert "section 'Description' what metadata.toml says" in check.sentence
    assert (check.path, check.line) == ("README.md", 3)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import torch", "imports 'torch'"),
        ("from missing_script import x", "imports 'missing_script'"),
        ("from . import gone", "imports '.gone'"),
        ("from .gone import x", "imports '.gone'"),
        ("def f():\n    __import__('torch')", "imports 'torch'"),
        ("import importlib\nimportlib.import_module('gone.deeper')", "imports 'gone'"),
    ],
)
def test_an_import_that_nothing_answers_to_is_told(folder: Path, source: str, says: str) -> None:
    with (folder / "preprocess.py").open("a") as file:
        file.write(f"\n{source}\n")
    (check,) = (each for each in checked(folder) if each.name == "artifacts.sources")
    assert says in check.sentence
    assert source.splitlines()[-1] in (folder / "preprocess.py").read_text().splitlines()[check.line - 1]


def test_what_is_python_s_own_allowed_or_handed_in_is_none(folder: Path) -> None:
    (folder / "own").mkdir()
    (folder / "own" / "deeper.py").write_text("from .beside import y\n")
    (folder / "own" / "beside.py").write_text("y = 1\n")
    with (folder / "preprocess.py").open("a") as file:
        file.write("\nimport json, os.path\nimport onnxruntime\nfrom own.deeper import y\nfrom . import postprocess\n")
    assert told(folder) == []


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import torch", "imports 'torch'"),
        ("!pip install torch", "asks a shell"),
        ("%pip install torch", "asks a shell"),
        ("%%bash\ncurl example.com", "asks a shell"),
        ("def f(:", "is no Python"),
    ],
)
def test_the_cells_of_a_notebook_are_read_and_the_line_is_that_of_the_file(folder: Path, code: str, says: str) -> None:
    notebook = folder / "validation.ipynb"
    content = json.loads(notebook.read_text())
    lines = [f"{line}\n" for line in ["# a comment", *code.splitlines()]]
    content["cells"].insert(1, {**content["cells"][1], "id": "between", "source": lines})
    notebook.write_text(json.dumps(content, indent=1))
    (check,) = checked(folder)
    assert says in check.sentence
    assert code.splitlines()[0] in notebook.read_text().splitlines()[check.line - 1]


def test_harmless_magics_are_harmless(folder: Path) -> None:
    notebook = folder / "inference.ipynb"
    content = json.loads(notebook.read_text())
    source = "%%time\n%matplotlib inline\nif True:\n    %timeit 1\nimport numpy"
    content["cells"].insert(1, {**content["cells"][1], "id": "between", "source": source})
    notebook.write_text(json.dumps(content))
    assert told(folder) == []


@pytest.mark.parametrize(
    ("rename", "to", "path"),
    [
        ("test_data_set_0", "test_data_set_1", "test_data_set_0"),
        ("test_data_set_0", "test_data_set_00", "test_data_set_00"),
        ("test_data_set_0/input_0.pb", "test_data_set_0/input_1.pb", "test_data_set_0/input_0.pb"),
    ],
)
def test_test_data_sets_are_counted_without_holes(folder: Path, rename: str, to: str, path: str) -> None:
    (folder / rename).rename(folder / to)
    assert path in [path_name for name, path_name, _ in told(folder) if name == "samples"]


def test_a_licence_is_judged_whatever_else_is_wrong_with_the_metadata(folder: Path) -> None:
    metadata = folder / "metadata.toml"
    text = (
        metadata.read_text()
        .replace("value = 1.0", "value = inf")
        .replace('license = "MIT"', 'license = "GPL-3.0-only"', 1)
    )
    metadata.write_text(text)
    names = {check.name for check in checked(folder) if check.outcome is CheckOutcome.FAILED}
    assert names >= {"artifacts.metadata", "artifacts.license"}


def test_a_script_that_changes_another_one_is_told_and_a_package_that_it_changes_is_not(folder: Path) -> None:
    (folder / "scripts").mkdir()
    (folder / "scripts" / "process.py").write_text('KEY = "shape"\n')
    with (folder.parents[1] / "zoo.toml").open("a") as policy:
        policy.write('packages = ["numpy", "onnxruntime", "torch"]\n')
    text = (folder / "preprocess.py").read_text()
    text += "\nimport torch\nimport scripts.process as process\ntorch.SIZE = 1\nprocess.KEY = 'size'\n"
    (folder / "preprocess.py").write_text(text)
    assert told(folder) == [("scan", "preprocess.py", len(text.splitlines()))]
