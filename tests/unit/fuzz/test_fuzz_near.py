"""`assay fuzz --near`: patterns of a user's models, read in a process of its own and kept in the corpus."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from msgspec.structs import replace
from onnx import parser

from assay import plugins
from assay.commands.fuzz import take_models
from assay.errors import UsageError
from assay.fuzz.corpus import Arm, Corpus, Session
from assay.generators.mined import decode
from assay.generators.open_generator import open_generator

pytestmark = pytest.mark.heavy  # each starts a process that reads

TEXT = '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2, 3] y) { a = OPERATOR (x)  y = Neg (a) }'


def _folder(path: Path, operator: str) -> Path:
    path.mkdir()
    onnx.save(parser.parse_model(TEXT.replace("OPERATOR", operator)), str(path / "model.onnx"))
    return path


def test_patterns_of_a_folder_are_kept_and_belong_to_the_session(tmp_path: Path) -> None:
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    take_models(_folder(tmp_path / "one", "Tanh"), corpus, session)
    kept = decode(corpus.near.read_bytes())
    assert [[node.operator for node in pattern.nodes] for pattern in kept] == [["Tanh", "Neg"]] * 2
    assert [pattern.whole for pattern in kept] == [False, True]
    session.arms["a"] = Arm("patterns", 1, "onnxruntime", next=5)
    take_models(tmp_path / "one", corpus, session)
    with pytest.raises(UsageError, match="near to other models"):
        take_models(_folder(tmp_path / "other", "Erf"), corpus, session)
    assert decode(corpus.near.read_bytes()) == kept
    session.arms["a"] = replace(session.arms["a"], next=0)
    take_models(tmp_path / "other", corpus, session)
    assert decode(corpus.near.read_bytes()) != kept


def test_a_folder_without_a_pattern_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two nodes beside each other"):
        take_models(tmp_path, Corpus(tmp_path / "corpus"), Session(seed=7))
    with pytest.raises(UsageError, match="is no folder"):
        take_models(tmp_path / "absent", Corpus(tmp_path / "corpus"), Session(seed=7))


def test_cases_come_near_to_the_models(tmp_path: Path) -> None:
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    take_models(_folder(tmp_path / "one", "Tanh"), corpus, session)
    near, plain = (open_generator("patterns", where) for where in (str(corpus.near), ""))
    made = [case for index in range(40) if (case := near.make(7, index)) is not None]
    operators = [[node.op_type for node in onnx.load_from_string(case_made.model).graph.node] for case_made in made]
    assert ["Tanh", "Neg"] in operators
    assert any(operator[:2] != ["Tanh", "Neg"] for operator in operators)
    assert plain.make(7, 0) is None or plain.make(7, 0) != near.make(7, 0)
    name = "sweep"
    assert open_generator(name, str(corpus.near)).make(7, 0) is not None
    assert type(open_generator(name, str(corpus.near))) is plugins.load("assay.generators", name)
