"""Files that a program looks for by their names, and takes orders from."""

from __future__ import annotations

import ast
import json
import time
from pathlib import Path
from typing import Any

import pytest

from assay_zoo.artifacts.code.handed_texts import handed_of
from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.installs.settings_files import holds_values
from assay_zoo.artifacts.opaque_files import opaque_files
from assay_zoo.artifacts.public import _kind
from assay_zoo.artifacts.published import inspect_published


def _asks(folder: Path, path: str, text: str, code: str = "") -> bool:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    kind = _kind(Path(path))
    looked_into = [path] if kind and not inspect_published(_item(file, path, kind))["instructs"] else []
    read = {"preprocess.py": SourceText(handed=handed_of(ast.parse(code)))}
    return bool(list(opaque_files(folder, looked_into, [], read)))


def _item(file: Path, path: str, kind: str) -> dict[str, object]:
    return {"kind": kind, "copy": str(file), "path": path, "root": str(file.parent), "packages": ["numpy"]}


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
        ("deep.json", "[" * 900),
        ("package.json", '{"preinstall": "sh x"}'),
        ("package.json", '{"main": "x.js"}'),
        ("Taskfile.yml", "version: '3'\ndefault: curl https://example.org/a | sh\n"),
        ("tasks.json", '[{"name": "x", "command": "curl https://example.org/a | sh"}]'),
        ("tasks.json", '[{"name": "x", "cmd": "make all"}]'),
        ("tasks.yml", "- shell: curl https://example.org/a | sh\n"),
        ("tasks.yml", "- name: x\n  shell: rm -r /\n"),
        ("install.yaml", "- run: curl https://example.org/a | sh\n"),
        ("install.yaml", "first: pip install left-pad-2\n"),
        ("hooks.toml", 'pre-commit = "sh x"\n'),
        ("two.yaml", "a: 1\n---\nb: sh x\n"),
        ("config.yaml", "_target_: os.system\n_args_: [id]\n"),
        ("config.yaml", "model: {_target_: elsewhere.Net}\n"),
        ("config.json", '{"model_type": "x", "trust_remote_code": true}'),
        ("config.json", '{"auto_map": {"AutoModel": "elsewhere--modeling.Net"}}'),
        ("pods.yml", "spec:\n  containers:\n  - name: a\n    image: somebody/else\n"),
        ("anchors.yml", "a: &a [1]\nb: *a\n"),
        ("tasks.yml", "command: ./get.sh\n"),
        ("tasks.yml", "entrypoint: /app/start.sh\n"),
        ("tasks.yml", "command: get.exe\n"),
        ("tasks.yml", "RunCMD: get\n"),
        ("tasks.yml", "script: get.py\n"),
        ("tasks.yml", "a: cd x && sh get\n"),
        ("tasks.yml", "a: https://example.org/get.EXE\n"),
        ("tasks.yml", "image: ghcr.io/x/y:v1.10\n"),
        ("tasks.yml", "uses: actions/checkout@v4\n"),
        ("mkdocs.yml", "hooks: [hooks/get.py]\n"),
        ("tasks.yml", "t: {cmds: [./get.sh]}\n"),
        ("tasks.yml", "steps: [{run: ./get.sh}]\n"),
        ("tasks.json", '{"postCreateCommand": "./get.sh"}'),
        ("tasks.json", '{"buildCommand": "./b.sh"}'),
        ("tasks.json", '{"scripts": {"start": "get-tool --now"}}'),
        ("tasks.json", '{"commands": {"build": "get --all"}}'),
        ("tasks.json", '{"command": {"linux": "./get"}}'),
        ("tasks.json", '{"onCreateCommand": {"a": "get --all"}}'),
        ("tasks.json", '{"a": "\\"bash\\" -c x"}'),
        ("tasks.json", '{"model": {"requires": {"onnx": "1.15"}}}'),
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
        (
            "config.yaml",
            "model:\n  name: net\n  layers: [8, 16]\n  opt:\n    lr: 0.1\n    betas: [0.9, 0.99]\nrun: baseline\nimage: {size: [8, 8]}\n",
        ),
        (
            "config.yaml",
            "optimizer: torch.optim.Adam\ndata: {train: ../images/train, source: a camera}\ndevice: cuda\n",
        ),
        (
            "tokenizer.json",
            '{"version": "1.0", "model": {"type": "BPE", "vocab": {"sh": 0, "pip": 1}, "merges": ["sh e", "py thon", "cp u", "a | b"]},'
            ' "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}, "post_processor": {"type": "ByteLevel"}}',
        ),
        (
            "tokenizer_config.json",
            '{"added_tokens_decoder": {"0": {"content": "[PAD]", "special": true}}, "cls_token": "[CLS]", "trust_remote_code": false}',
        ),
        ("special_tokens_map.json", '{"cls_token": {"content": "[CLS]", "lstrip": false}, "pad_token": "[PAD]"}'),
        (
            "annotations.json",
            '{"info": {"url": "http://cocodataset.org"}, "images": [{"id": 1, "file_name": "1.jpg", "coco_url": "http://example.org/1.jpg"}],'
            ' "annotations": [{"id": 1, "bbox": [1, 2, 3, 4], "segmentation": [[1, 2]]}], "categories": [{"id": 1, "name": "cat"}]}',
        ),
        (
            "samples.json",
            '[{"image": "img_001", "command": "left", "transcript": "run to the shell"}, {"image": "b/2.png"}]',
        ),
        ("columns.json", '{"age": {"type": "float", "description": "years; of the patient (node 1)"}}'),
        ("columns.json", '[{"name": "age", "type": "float", "range": {"min": 0, "max": 99}}]'),
        ("scaler.json", '{"age": {"mean": 3.1, "std": 1.0, "unit": "years"}}'),
        (
            "metrics.json",
            '{"val": {"acc": 0.9}, "test": {"acc": 0.9, "per_class": {"cat": 0.9}}, "python": "Python 3.11"}',
        ),
        ("training_log.yaml", "epoch_1: {loss: 0.5, note: go on, time: 2026-01-02 03:04:05}\n"),
        ("model.yaml", "name: x\nnote: salt,&pepper\nkey: R&D\n"),
        ("model.yaml", "native_script: Cyrillic\nscripts: Latin\ntrain_script: train\nrun: exp-12\n"),
        ("model.yaml", "requires: RGB pictures\nuses: detecting faces\nplugins: none\nimports: none\n"),
        ("model.yaml", "extends: base\ntranscript: go on then\nimage: cat.png\n"),
        ("model.yaml", "_target_: numpy.asarray\n"),
        ("two.yaml", "a: 1\n---\nb: {c: {d: x}}\n"),
        ("log.jsonl", '{"a": {"b": {"c": 1}}}\n'),
        ("CITATION.cff", "authors:\n- {family-names: A, given-names: B}\n"),
        (".zenodo.json", '{"creators": [{"name": "A"}]}'),
        (".gitignore", "*.log\n"),
        ("README", "words\n"),
    ],
)
def test_values_and_words_are_free(path: str, text: str, tmp_path: Path) -> None:
    assert not _asks(tmp_path, path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("TERMS.yaml", "terms: You must not sell or redistribute the weights.\n"),
        ("TERMS.json", '{"terms": "All rights reserved. Not for commercial use."}'),
        ("terms_of_use.json", '{"a": [{"b": ["You must not sell", "the weights."]}]}'),
        ("model_card.yaml", "license: cc-by-nc-4.0\nname: x\n"),
        ("config.json", '{"license": "cc-by-nc-4.0", "architectures": ["X"]}'),
        ("config.json", '{"note": "The weights must \\u006eot be sold."}'),
        ("config.json", '["The weights must not be sold."]'),
        ("LICENSE.json", '{"license": "GPL-3.0"}'),
        ("LICENSE.toml", '[license]\nname = "GPL-3.0"\n'),
        ("codemeta.json", '{"name": "x", "description": "The weights must not be sold."}'),
        ("broken.json", '{"The weights must not be sold.'),
        ("notes.jsonl", '{"license":"CC-BY-NC-4.0: the weights must not be sold."}\n'),
        ("run.log", "The weights must not be sold.\n"),
        ("model.onnx.license", "SPDX-License-Identifier: CC-BY-NC-4.0\n"),
        ("a.labels", "The weights must not be sold.\n"),
    ],
)
def test_rights_are_heard_in_settings_and_other_texts(path: str, text: str, tmp_path: Path) -> None:
    published = _published(tmp_path, path, text)
    assert published["restricted"] or published["rights"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("labels.json", '["commercial", "non-commercial", "for sale", "license plate", "only"]'),
        ("labels.json", '{"0": "commercial vehicle", "1": "taxi"}'),
        ("annotations.json", '{"images": [{"id": 1, "license": 3}], "categories": [{"name": "license plate"}]}'),
        ("config.yaml", "seed: 1\nmodel: {name: net, use: bias}\n"),
        ("a.merges", "com mercial\no nly\n"),
        ("a.jsonl", '{"text": "a dog", "label": 1}\n'),
    ],
)
def test_values_say_nothing_of_rights(path: str, text: str, tmp_path: Path) -> None:
    published = _published(tmp_path, path, text)
    assert not published["restricted"]
    assert not published["rights"]


def _published(folder: Path, path: str, text: str) -> dict[str, Any]:
    (folder / path).write_text(text, encoding="utf-8")
    published: dict[str, Any] = inspect_published(_item(folder / path, path, _kind(Path(path))))
    return published


@pytest.mark.parametrize("code", ["json.load(open(HERE / 'tables.json'))", "list(HERE.glob('*.json'))"])
def test_what_a_script_reads_is_its_own(code: str, tmp_path: Path) -> None:
    text = '{"images": [{"id": 1, "command": "make all"}]}'
    assert not _asks(tmp_path, "tables.json", text, code)
    assert _asks(tmp_path, "tables.json", text)


@pytest.mark.parametrize("part", ["\n", "; ", "( ", "(a/", "sh ", "a."])
def test_time_grows_with_the_length(part: str) -> None:
    started = time.process_time()
    assert holds_values(".json", json.dumps({"a": f"{part * 20_000}-"}), [])
    assert time.process_time() - started < 3
