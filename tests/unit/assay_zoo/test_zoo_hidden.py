"""What is hidden in a submission: names, turned letters, scripts of other languages, misleading links, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_zoo.artifacts.pages.markup import active_html, active_markdown
from assay_zoo.files.finding import Item
from assay_zoo.files.names import name_problems
from assay_zoo.files.programs import program_problem
from assay_zoo.files.secrets import secrets_in
from assay_zoo.files.shown_text import text_problem


@pytest.mark.parametrize(
    "path",
    [
        "CON",
        "data/nul.txt",
        "aux.tar.gz",
        "a:b",
        "what?",
        "end.",
        "end ",
        ".env",
        ".github/x.yml",
        "a/.gitattributes",
        "pr\u043ecess.py",
        "a/GIT~1/x",
        "com\u00b9.txt",
        "conout$",
    ],
)
def test_names_that_are_not_the_same_everywhere(path: str) -> None:
    assert [problem for problem, _ in name_problems([path])] == [path]


@pytest.mark.parametrize(
    "path", ["console.txt", "auxiliary.py", "a.b/c", ".gitkeep", "com10.txt", "nulls.npy", "größe.md"]
)
def test_names_that_are_taken(path: str) -> None:
    assert list(name_problems([path])) == []


def test_two_names_of_one_file_are_told_once() -> None:
    assert [path for path, _ in name_problems(["a/X", "a/x", "b/x"])] == ["a/x"]
    assert [path for path, _ in name_problems(["a/x", "A/y", "A/z", "b", "B/c"])] == ["A/y", "A/z", "B/c"], (
        "folders are names, too"
    )


_TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "ignoreallrules")
_ENGLAND = "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbeng") + "\U000e007f"
_DRAWN = "QmxTbWkZpLrVnYdHcJgXsFqBtRwKzMvNaE"
_BITS = "".join(f"a{mark}" for mark in "\u200b\u200c" * 4) + "b"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.py", "x = 1\n# \u202e\n", 2),
        ("a.md", "\u2067", 1),
        ("a.ipynb", '{"source": "\\u202D"}', 1),
        ("a.py", r"'\u202d'", 0),
        ("a.md", "עברית \u200f(RTL)", 0),
        ("a.bin", "\0\u202e", 0),
        ("a.md", f"\U0001f3f4{_TAGS}", 1),
        ("a.md", f"\U0001f3f4{_TAGS[:6]}", 1),
        ("a.md", f"\n{_ENGLAND} and\U0001f3f4", 0),
        ("a.md", f"\n\U0001f3f4{_TAGS[:5]}\U000e007f", 2),
        ("a.ipynb", r'{"source": ["\udb40\udc69\udb40\udc67"]}', 1),
        ("a.ipynb", r"""{"source": ["re.sub('[\\u202a-\\u202e]', '', text)"]}""", 0),
        ("a.ipynb", '{"a": "\\u0000",\n "source": ["\\u202e"]}', 2),
        ("a.md", f"x\n{_BITS}", 2),
        ("a.md", f"x\n{_BITS.replace('a', 'é')}", 2),
        ("a.md", "soft\u200bware/" * 40, 0),
        ("a.md", "soft\u200bware/" * 70, 1),
        ("a.md", "words A\u200bB\u200cC\u200bD\u200cE\u200bF\u200cG", 0),
        ("a.md", "A\u200bB " * 63, 0),
        ("a.md", "A\u200bB " * 64, 1),
        ("a.md", "words " + "A\U000e0101" * 63, 0),
        ("a.md", "words " + "A\U000e0101" * 64, 1),
        ("a.md", "A\u200bB\u200cC\u200bD\u200c" + "E" * (1 << 20) + "\u200bF\u200cG\u200bH\u200cI", 1),
        ("a.md", "می\u200cخواهم क्\u200dष \U0001f469\u200d\U0001f52c \u2764\ufe0f " * 40, 0),
        ("a.md", "".join(f"a{chr(0xE0100 + number)}" for number in range(9)), 1),
        ("a.md", "".join(f"\u845b{chr(0xE0100 + number)}" for number in range(9)), 0),
        ("a.md", "x" + "\U000e0101\ufe00" * 9, 1),
        ("a.md", "\u2764\ufe0f 1\ufe0f\u20e3 \u06cc\u200c", 0),
    ],
)
def test_letters_that_are_shown_in_another_order(tmp_path: Path, name: str, text: str, line: int) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    problem = text_problem(Item(copy=str(tmp_path / name), path=name))
    assert (problem.line if problem else 0) == line


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize(
    ("name", "text", "line"),
    [("a.csv", "a,b\n1,\u202ex\n", 2), ("a.txt", "größe. \u200f", 0), ("a.tsv", "x\n" * 600_000 + "\u2067", 600_001)],
)
def test_text_is_read_as_its_mark_says(tmp_path: Path, name: str, text: str, line: int, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / name).write_text(mark + text, encoding=encoding)
    problem = text_problem(Item(copy=str(tmp_path / name), path=name))
    assert (problem.line if problem else 0) == line


@pytest.mark.parametrize(
    ("name", "mark", "at", "line"),
    [
        ("a.txt", "\u202e", (16 << 20) + 5, 3),
        ("a.txt", "\u202e", (16 << 20) - 1, 3),
        ("a.txt", "é\u202e", (16 << 20) - 1, 3),
        ("a.txt", "\u202e", (1 << 20) - 2, 3),
        ("a.json", "\\u202e", (1 << 20) - 3, 3),
        ("a.json", "\\u202e\n\0", (1 << 20) - 3, 0),
        ("a.md", f"\U0001f3f4{_TAGS}", (1 << 20) - 9, 3),
        ("a.md", _ENGLAND, (1 << 20) - 9, 0),
        ("a.md", _ENGLAND, (1 << 20) - 28, 0),
        ("a.json", "\\\\u202e", (1 << 20) - 4, 0),
    ],
)
def test_a_mark_is_seen_anywhere_in_a_long_file(tmp_path: Path, name: str, mark: str, at: int, line: int) -> None:
    (tmp_path / name).write_bytes(b"\n\n" + b"a" * (at - 2) + mark.encode() + b"\n")
    problem = text_problem(Item(copy=str(tmp_path / name), path=name))
    assert (problem.line if problem else 0) == line


def test_a_file_that_ends_within_a_character_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes("\u202eé".encode()[:-1])
    assert text_problem(Item(copy=str(tmp_path / "a.bin"), path="a.bin")) is None


@pytest.mark.parametrize(
    ("name", "head", "message"),
    [
        ("run.sh", b"ls", "script by its name"),
        ("run", b"#!/usr/bin/perl\n", "begins with '#!/usr/bin/perl'"),
        ("run.py", b"#!/usr/bin/env python3\n", ""),
        ("run", b"#!/usr/bin/env python3\n", "begins with"),
        ("run.pyw", b"x = 1", "script by its name"),
        ("tools/Makefile", b"all:", "script by its name (makefile)"),
        ("labels", b"zero", ""),
        ("notes.txt", b"# words\n", ""),
    ],
)
def test_scripts_of_other_languages(name: str, head: bytes, message: str) -> None:
    problem = program_problem(Item(copy=name, path=name), head)
    assert message in problem.sentence if problem and message else not problem


@pytest.mark.parametrize(
    ("words", "certain"),
    [
        ("hf_" + _DRAWN, [True]),
        ("HF_TOKEN=hf_" + _DRAWN, [True]),
        ("https://huggingface.co/hf_" + _DRAWN, [True]),
        ("sk-proj-" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4f", [True]),
        ("sk-ant-api03-" + "QmxTbW-kZpLrVnY_dHcJgXsFqBtRwKzMvNaE-AA", [True]),
        ("github_pat_" + _DRAWN[:22] + "_" + _DRAWN, [True]),
        ("r8_" + _DRAWN, [True]),
        ("AIzaSy" + _DRAWN[:33], [True]),
        ("nvapi-" + _DRAWN + "-" + _DRAWN, [True]),
        ("Authorization: Bearer " + _DRAWN, [True]),
        ("api2.key_" + _DRAWN, [False]),
        ("file_" + _DRAWN, [False]),
        ("run_9f8e0c5d6b7a4f3e8d1c2b0a9e7f6d5c", []),
        ("onnx_5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9", []),
        ("img_9F8E0C5D6B7A4F3E8D1C2B0A9E7F6D5C.png", []),
        ("step_1a2b3c4d5e6f7g8h9i1j2k3l4m5n6o7p8q9r", []),
        ("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAK/hf_" + _DRAWN, []),
        ("run_20240102030405060708091011121314aB", []),
        ("tf_TFBertForSequenceClassificationModelOutput", []),
        ("sk-container-id-1-sk-toggleable-label-arrow-TransformerRandomForest", []),
        ("sha256-0123456789abcdef0123456789abcdef01234567", []),
        ("image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs", []),
    ],
)
def test_a_token_by_its_form(tmp_path: Path, words: str, certain: list[bool]) -> None:
    (tmp_path / "n.txt").write_text(f"a line\nthe words {words} here\n")
    found = secrets_in(Item(copy=str(tmp_path / "n.txt"), path="n.txt"))
    assert [(finding.line, finding.certain) for finding in found] == [(2, each) for each in certain]


def test_a_key_between_the_numbers_of_a_model(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    file.write_bytes(bytes(range(256)) * 10 + b"\n\x20AKIA" + b"QYLPMN5HFIQR7XYA\n" + bytes(40))
    assert [finding.check for finding in secrets_in(Item(copy=str(file), path="m.onnx"))] == ["secrets"]
    file.write_bytes(bytes(range(256)) * 10 + b"/layer1/conv_weight_quantized_0012345678" + bytes(40))
    assert secrets_in(Item(copy=str(file), path="m.onnx")) == []
    file.write_bytes(bytes(range(256)) * 10 + f"hf_{_DRAWN}1\nfile_{_DRAWN}1\n".encode() + bytes(40))
    assert [finding.certain for finding in secrets_in(Item(copy=str(file), path="m.onnx"))] == [True]


@pytest.mark.parametrize(
    ("text", "lies"),
    [
        ("[https://github.com/a](https://evil.example/b)", True),
        ("[github.com](//evil.example)", False),
        ("[www.github.com](https://github.com/a)", False),
        ("[the paper](https://arxiv.org/abs/1)", False),
        ("[model.onnx](https://example.com/model.onnx)", False),
        ("<https://github.com/a>", False),
    ],
)
def test_links_whose_words_are_another_address(text: str, lies: bool) -> None:
    assert bool(active_markdown(text)) is lies


def test_a_picture_of_matplotlib_is_harmless_and_an_entity_is_not() -> None:
    picture = (
        '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink"><metadata><rdf:RDF><cc:Work><dc:type/></cc:Work></rdf:RDF></metadata>'
        '<defs><style type="text/css">*{stroke-linejoin: round}</style></defs><g id="a"><path d="M 0"/><use xlink:href="#m"/></g></svg>'
    )
    assert active_html(picture) == []
    assert active_html('<!DOCTYPE svg [<!ENTITY a "b">]><svg></svg>')
    assert active_html('<svg><image xlink:href="javascript:alert(1)"/></svg>')
