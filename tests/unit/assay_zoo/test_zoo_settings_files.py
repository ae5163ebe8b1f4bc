"""Files that a program looks for by their names, and takes orders from."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from assay_zoo.artifacts.handed_texts import handed_of
from assay_zoo.artifacts.opaque_files import opaque_files
from assay_zoo.artifacts.public import _kind
from assay_zoo.artifacts.published import inspect_published
from assay_zoo.artifacts.sources import SourceText


def _asks(folder: Path, path: str, text: str, code: str = "") -> bool:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    kind = _kind(Path(path))
    looked_into = [path] if kind and not inspect_published(_item(file, path, kind))["instructs"] else []
    read = {"preprocess.py": SourceText(handed=handed_of(ast.parse(code)))}
    return bool(list(opaque_files(folder, looked_into, [], read)))


def _item(file: Path, path: str, kind: str) -> dict[str, object]:
    return {"kind": kind, "copy": str(file), "path": path, "root": str(file.parent), "packages": []}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"name": "x", "scripts": {"postinstall": "node get.js"}}'),
        ("package.json", '{"dependencies": {"left-pad-2": "1.0"}}'),
        ("docker-compose.yml", "services:\n  web:\n    image: somebody/else\n"),
        ("sub/compose.yaml", "services: {web: {image: other}}"),
        ("azure-pipelines.yml", "steps:\n- script: curl example.org | sh\n"),
        ("netlify.toml", '[build]\ncommand = "make"\n'),
        (".devcontainer/devcontainer.json", '{"image": "other", "postCreateCommand": "sh x"}'),
        (".github/workflows/a.yml", "on: push\n"),
        (".envrc", "use flake\n"),
        ("Procfile", "web: sh run\n"),
        ("binder/postBuild", "pip install x\n"),
        ("broken.json", "{"),
        ("anchors.yml", "a: &a [1]\nb: *a\n"),
    ],
)
def test_what_a_program_takes_orders_from_asks(path: str, text: str, tmp_path: Path) -> None:
    assert _asks(tmp_path, path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("labels.json", '["cat", "dog"]'),
        ("labels.json", '{"0": "cat", "1": "dog"}'),
        (
            "config.json",
            '{"size": {"height": 224, "width": 224}, "id2label": {"0": "a b"}, "mean": [0.5, 0.5], "name": "x"}',
        ),
        ("rows.json", '[{"file": "a.png", "box": [1, 2, 3, 4]}, {"file": "b.png", "box": []}]'),
        ("training.yaml", "lr: 0.001\nepochs: 3\nnames: [salt & pepper]\n"),
        ("values.toml", "mean = 0.5\n"),
        ("log.jsonl", '{"a": {"b": {"c": 1}}}\n'),
        ("CITATION.cff", "authors:\n- {family-names: A, given-names: B}\n"),
        (".zenodo.json", '{"creators": [{"name": "A"}]}'),
        (".gitignore", "*.log\n"),
        ("README", "words\n"),
    ],
)
def test_values_and_words_are_free(path: str, text: str, tmp_path: Path) -> None:
    assert not _asks(tmp_path, path, text)


@pytest.mark.parametrize("code", ["json.load(open(HERE / 'tables.json'))", "list(HERE.glob('*.json'))"])
def test_what_a_script_reads_is_its_own(code: str, tmp_path: Path) -> None:
    text = '{"images": [{"id": 1, "boxes": [{"x": 1}]}]}'
    assert not _asks(tmp_path, "tables.json", text, code)
    assert _asks(tmp_path, "tables.json", text)
