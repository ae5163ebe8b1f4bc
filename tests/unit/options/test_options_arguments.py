"""Arguments are read as values, and values are written as the arguments that are read as them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.core.data import Picture
from assay.core.input_plan import InputRange, RangeSource
from assay.errors import UsageError
from assay.options.arguments import (
    arguments_of,
    given_arguments,
    kind_of,
    values_from_arguments,
    values_from_python,
    without,
)
from assay.options.check import CheckOptions
from assay.options.declaration import rows
from assay.options.groups import history_words
from assay.options.sizes import Sizes
from assay.options.task_metric import MetricChoice

EXAMPLES: dict[str, Any] = {
    "models": (Path("a.onnx"), Path("b.onnx")),
    "flows": ("onnxruntime", "openvino-f32"),
    "transforms": ("mutant:drop@/a+b", "int8-qdq"),
    "options": {"threads": "2", "fused": "true", "empty": ""},
    "map_inputs": {"ids": "input_ids"},
    "state": {"stateN": "state"},
    "image": Picture(size=(224, 160), layout="NHWC", scale=1 / 255, mean=(0.5, 0.25, 0.125), std=(2.0,), fill=3),
    "dims": {"h": Sizes(64, 96, 160), "x[2]": Sizes(1, 1, 9, (1, 9))},
    "input_ranges": {
        "mask": InputRange(0, 1, source=RangeSource.STATED),
        "x": InputRange(-1e-7, 0.1, source=RangeSource.STATED),
    },
    "input_values": {"rate": InputRange(8000, 16000, choices=(8000, 16000), source=RangeSource.STATED)},
    "seed": -3,
    "samples": 2,
    "rtol": 1e-3,
    "task_metric": MetricChoice("classification", {"output": "scores", "k": 5, "share": 0.5}),
    "measure_batches": (1, 8),
    "memory_bytes": 4000,
    "golden": Path("a b"),
    "reports": (("html", Path("a=b.html")), ("json", Path("c.json"))),
    "per_node": True,
    "require": ("casts <= 4", "undelegated==0"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_written_is_read_as_the_same(name: str) -> None:
    row = next(row for row in rows(CheckOptions) if row.name == name)
    words = arguments_of(CheckOptions, {name: EXAMPLES[name]})
    if row.type == "bool":
        assert words == [row.flag]
        return
    texts = words if row.argument else words[1::2]
    assert row.argument or set(words[::2]) == {row.flag}
    # A plain word becomes a number or a path where the command line is taken apart, before it is read here.
    plain = {"tuple[int, ...]": int, "tuple[Path, ...]": Path}.get(row.type) or type(EXAMPLES[name])
    typed = texts if row.kind or row.type == "tuple[str, ...]" else [plain(text) for text in texts]
    assert kind_of(row).read(row.flag, typed if row.repeatable else typed[0]) == EXAMPLES[name]


def test_what_was_not_given_is_left_out() -> None:
    assert values_from_arguments(CheckOptions, {"flows": None, "image": "", "seed": 0, "per_node": False}) == {
        "seed": 0,
        "per_node": False,
    }
    assert arguments_of(CheckOptions, {"flows": (), "image": None, "seed": 0, "per_node": False}) == ["--seed", "0"]
    with pytest.raises(ValueError, match="no option 'sead'"):
        arguments_of(CheckOptions, {"sead": 1})


def test_what_a_command_line_gave_by_name_and_without_some() -> None:
    line = [
        "m.onnx",
        "--flow",
        "a",
        "--flow=b",
        "--per-node",
        "n.onnx",
        "--report",
        "html=o",
        "--details",
        "--",
        "-x.onnx",
    ]
    assert given_arguments(CheckOptions, line) == {
        "models": ["m.onnx", "n.onnx", "-x.onnx"],
        "flows": ["a", "b"],
        "per_node": [],
        "reports": ["html=o"],
    }
    assert without(CheckOptions, line, {"flows", "per_node", "reports"}) == [
        "m.onnx", "n.onnx", "--details", "--", "-x.onnx",
    ]  # fmt: skip


def test_values_of_python() -> None:
    said = {
        "dims": {"h": [64, 96, 160], "w": 48, "d": "2:4:8"},
        "input_ranges": {"mask": (0, 1)},
        "input_values": {"rate": 16000, "gain": [0.5, 2]},
        "task_metric": ("classification", {"output": "scores"}),
        "image": "size=8x8",
        "golden": "folder",
        "flows": "onnxruntime",
        "transforms": ["fp16"],
        "reports": {"html": "out.html"},
    }
    assert values_from_python(CheckOptions, said) == {
        "dims": {"h": (64, 96, 160, ()), "w": (48, 48, 48, (48,)), "d": (2, 4, 8, ())},
        "input_ranges": {"mask": InputRange(0, 1, source=RangeSource.STATED)},
        "input_values": {
            "rate": InputRange(16000, 16000, choices=(16000,), source=RangeSource.STATED),
            "gain": InputRange(0.5, 2, choices=(0.5, 2), source=RangeSource.STATED),
        },
        "task_metric": ("classification", {"output": "scores"}),
        "image": Picture(size=(8, 8)),
        "golden": Path("folder"),
        "flows": ("onnxruntime",),
        "transforms": ("fp16",),
        "reports": (("html", Path("out.html")),),
    }


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("options", ["threads"], "--option 'threads' is not NAME=VALUE; write for example --option threads=2"),
        ("map_inputs", ["a=b", "a=c"], "--map-input names 'a' twice: give each name once"),
        ("map_outputs", ["a="], "--map-output 'a=' is not NEW=OLD; write for example --map-output ids=input_ids"),
        ("state", ["a"], "--state 'a' is not OUTPUT=INPUT; write for example --state stateN=state"),
        ("dims", ["96"], "--dim '96' is not NAME=...; write for example --dim height=64:96:160"),
        ("memory_bytes", "much", "'much' is no amount of memory; write for example 4GB or 512MiB"),
        ("reports", ["html"], "--report 'html' is not NAME=FILE; write for example --report html=out.html"),
        (
            "task_metric",
            "a:b",
            "--task-metric 'a:b': 'b' is not KEY=VALUE; write for example classification:output=scores",
        ),
    ],
)
def test_words_that_cannot_be_read(name: str, words: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        values_from_arguments(CheckOptions, {name: words})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (".assay", []),
        ("team/history", ["--history", "team/history"]),
        ("postgresql+psycopg:///assay", ["--history", "postgresql+psycopg:///assay"]),
        ("postgresql://ann:pa/s?s:word@db:5432/assay?sslmode=require&password=word", ["--history", "postgresql://ann@db:5432/assay"]),
        ("postgresql://db/assay?password=word", ["--history", "postgresql://db/assay"]),
    ],
)  # fmt: skip
def test_the_history_in_a_command_that_others_read(history: str, words: list[str]) -> None:
    assert history_words(history) == words
