"""What pages tell readers to install or run; notices and data that allow less; letters that look like others."""

from __future__ import annotations

import tomllib

import pytest

from assay_zoo.accuracy.metric import unreadable_place
from assay_zoo.artifacts.installs.page_commands import asked_in_page
from assay_zoo.artifacts.installs.requirements_file import asked_for_in
from assay_zoo.artifacts.meta import MetadataText
from assay_zoo.artifacts.pages.alike import odd_word
from assay_zoo.artifacts.pages.shown_code import reached_in_markdown
from assay_zoo.artifacts.rights.restricted_use import data_restriction, notice_restriction, use_findings
from assay_zoo.metadata import Metadata
from zoo_submission import METADATA

PACKAGES = ("numpy", "onnxruntime", "onnx", "torch")


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("Install it:\n\n    pip install onnxruntime\n", []),
        ("$ pip install onnxruntime numpy\n", []),
        ("Run pip install onnxruntime, and then the notebook.", []),
        ("Then pip install numpy and run the script.", []),
        ("seven\neight\npip\n", []),
        ("    pip install nunpy\n", [True]),
        ("$ python -m pip install onnxruntime evil\n", [True]),
        ("First pip install evil.", [False]),
        ("First pip install onnxruntime nunpy now.", [False]),
        ("First `uv add evil`.", [False]),
    ],
)
def test_a_page_that_tells_to_install(text: str, certain: list[bool]) -> None:
    assert [sure for _, _, sure in asked_in_page(text, PACKAGES)] == certain


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Install it:\n\n    curl -O https://a.example/i.sh\n    sh i.sh\n", [4]),
        ("curl https://a.example/i \\\n  | bash\n", [1]),
        ("curl -O https://a.example/i.sh\n\nThen:\n\n  $ sh i.sh\n", [5]),
        ("curl -O https://a.example/i.sh\n" + "then\n" * 60 + "sh i.sh\n", [62]),
        ("curl -O https://a.example/model.onnx\npython run.py model.onnx\n", []),
        ("curl -O https://a.example/model.onnx\n\nbash start.sh\n", []),
        ("curl http://localhost:8000/v1/predict -d @a.json\n\n/v1/predict answers with the labels\n", []),
        ("curl http://localhost:8000/v1/predict -d @a.json\n/v1/predict answers with the labels\n", []),
        ("| tool | what it does |\n| curl | fetches |\n| bash | runs |\n", []),
    ],
)
def test_a_page_that_runs_in_a_later_line_what_it_fetches(text: str, lines: list[int]) -> None:
    assert [line for line, _, _ in asked_in_page(text, PACKAGES)] == lines


def test_what_is_set_off_in_code_is_no_command_for_sure() -> None:
    (asked,) = asked_in_page('def f():\n    """Needs\n\n    pip install evil\n    """\n', PACKAGES, plain=False)
    assert asked[0] == 4
    assert not asked[2]


@pytest.mark.parametrize(
    ("code", "is_of_others"),
    [
        ("net = torch.hub.load('someone/net', 'net')", True),
        ("net = AutoModel.from_pretrained('someone/net', trust_remote_code=True)", True),
        ("net = torch.load('net.pt')", False),
        ("session = onnxruntime.InferenceSession('model.onnx')", False),
    ],
)
def test_code_of_another_repository_in_a_readme(code: str, is_of_others: bool) -> None:
    assert bool(list(asked_for_in(f"# Use\n\n```python\n{code}\n```\n", PACKAGES))) is is_of_others


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("import onnxruntime\nsession = onnxruntime.InferenceSession('model.onnx')\nprint(session.run(None, {}))", []),
        (">>> import numpy as np\n>>> labels = open('labels.txt').read().split()", []),
        ("import os\n\nos.system('id')", [6]),
        ("$ python run.py", []),
    ],
)
def test_code_that_a_readme_shows_is_scanned(code: str, lines: list[int]) -> None:
    assert [line for line, _ in reached_in_markdown(f"# Use\n\n```\n{code}\n```\n", PACKAGES)] == lines


@pytest.mark.parametrize(
    ("text", "is_restricted"),
    [
        ("Copyright 2026 Example Ltd. All rights reserved.", True),
        (
            "Copyright 2026 Example Ltd.\nAll rights\nreserved.\n\nLicensed under the Apache License, Version 2.0.",
            False,
        ),
        ("This product includes software developed at The Apache Software Foundation.", False),
        ("Licensed under the Apache License 2.0, for research purposes only.", True),
    ],
)
def test_a_notice(text: str, is_restricted: bool) -> None:
    assert bool(notice_restriction(text)) is is_restricted


@pytest.mark.parametrize(
    ("license", "is_restricted"),
    [
        ("CC-BY-4.0", False),
        ("CC BY 4.0", False),
        ("CC-BY-SA-4.0", False),
        ("ODbL-1.0", False),
        ("CC0-1.0", False),
        ("public domain", False),
        ("MIT OR CC-BY-NC-4.0", False),
        ("our own pictures, none needed", False),
        ("CC-BY-NC-4.0", True),
        ("CC BY-NC-SA 4.0", True),
        ("CC-BY-ND-4.0", True),
        ("MIT AND CC-BY-NC-4.0", True),
        ("for academic use only", True),
        ("proprietary", True),
        ("unknown", True),
    ],
)
def test_data_that_not_everybody_may_use(license: str, is_restricted: bool) -> None:
    assert bool(data_restriction(license)) is is_restricted


def test_words_in_the_metadata_that_allow_less_ask_a_person() -> None:
    table = tomllib.loads(METADATA)
    assert not list(use_findings(Metadata.model_validate(table), MetadataText()))
    table["description"] = "Classifies documents: public, internal or secret. Free for all."
    assert not list(use_findings(Metadata.model_validate(table), MetadataText()))
    table["description"] += " Only for research."
    (finding,) = use_findings(Metadata.model_validate(table), MetadataText())
    assert "'Only for research'" in finding.sentence
    assert not finding.certain


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Mira M\u00fcller, Nguy\u1ec5n V\u0103n A, M\u00aa Jos\u00e9", ""),
        ("\u0418\u0432\u0430\u043d Petrov", ""),
        ("\u5c71\u7530 \u592a\u90ce (Taro)", ""),
        ("M\u0456ra", "M\u0456ra"),
        ("T\u03bfm", "T\u03bfm"),
        ("\U0001d40cira", "\U0001d40cira"),
        ("\uff2dira", "\uff2dira"),
    ],
)
def test_letters_that_are_taken_for_others(text: str, word: str) -> None:
    assert odd_word(text) == word


def test_a_greek_letter_may_stand_in_the_name_of_a_method() -> None:
    assert not odd_word("\u03bcNet at 5\u03bcm", science=True)
    assert odd_word("R\u0435sNet", science=True)


@pytest.mark.parametrize(
    ("read", "is_place"),
    [
        ("output:top1", True),
        ("file:results/metrics.json#top1", True),
        ("file:metrics.json", True),
        ("file:../metrics.json#top1", False),
        ("file:/tmp/metrics.json#top1", False),
        ("output:", False),
        ("top1", False),
    ],
)
def test_where_a_metric_may_be_reported(read: str, is_place: bool) -> None:
    assert (unreadable_place(read) == "") is is_place
