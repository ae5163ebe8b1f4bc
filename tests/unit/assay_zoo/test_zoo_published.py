"""What is published is looked at and not only what is run: code, words that would act, licences, names of packages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from assay_zoo.accuracy.notebook_report import Printed, Report
from assay_zoo.accuracy.stored_outputs import difference, outputs_check
from assay_zoo.artifacts import public
from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.inspect_source import inspect_source
from assay_zoo.artifacts.notebooks.notebook_content import notebook_findings, processing_findings
from assay_zoo.artifacts.pages.markup import active_html, active_markdown
from assay_zoo.artifacts.published import inspect_published
from assay_zoo.check import CheckOutcome
from assay_zoo.metadata import Metadata


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a\n\n<script>x</script>", "<script>"),
        ("a\n\n[a](javascript:alert(1))", "an address with javascript:"),
        ("a\n\n![x](data:text/html;base64,eA)", "an address with data:"),
        ("a\n\n<img src=x onerror=alert(1)>", "onerror of <img>"),
        ("a\n\n<iframe src='https://x'></iframe>", "<iframe>"),
        ("a\n\n<p style='position: fixed; top: 0'>Sign in</p>", "a style of <p> that lays it over the page"),
        ("a\n\n<a href=' java\tscript:x'>a</a>", "an address with javascript:"),
        ("a\n\n<svg onload=alert(1)>", "onload of <svg>"),
        ("a\n\n<style>@import url(http://x)</style>", "a <style> that holds or loads something"),
        ("a\n\n<!--><img src=x onerror=alert(1)>-->", "a comment that browsers end at once"),
    ],
)
def test_active_content_is_found_with_its_line(text: str, what: str) -> None:
    assert active_markdown(text) == [(3, what)]


def test_a_picture_in_svg_draws_and_runs_nothing() -> None:
    drawn = "<svg><defs><clipPath id='a'/></defs><g><text x='1'>a</text><use xlink:href='#a'/></g><metadata><rdf:RDF/></metadata></svg>"
    assert active_html(drawn) == []
    assert active_html("<svg><script>x</script><foreignObject/></svg>") == [(0, "<script>"), (0, "<foreignobject>")]


def test_words_tables_and_pictures_are_left_alone() -> None:
    text = "a < b\n\n<details><summary>more</summary>x</details>\n<p align=center><img src='a.png'></p>\n\n[m](mailto:a@b.c) <https://x.y>"
    assert active_markdown(text) == []


def _notebook(tmp_path: Path, *cells: Mapping[str, object]) -> dict[str, object]:
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    return {"copy": str(path), "path": "n.ipynb", "root": str(tmp_path)}


def _code(source: str, **data: str) -> dict[str, object]:
    outputs = [{"output_type": "display_data", "data": data, "metadata": {}}] if data else []
    return {"cell_type": "code", "source": source, "outputs": outputs, "metadata": {}, "execution_count": None}


def test_stored_outputs_and_words_of_a_notebook_act_too(tmp_path: Path) -> None:
    words = {"cell_type": "markdown", "source": "<script>x</script>", "metadata": {}}
    item = _notebook(
        tmp_path, words, _code("x = 1", **{"text/html": "<b onclick=x>y</b>", "application/javascript": "x"})
    )
    inspection = inspect_published({"kind": "notebook", **item})
    assert [sentence for _, sentence in inspection["active"]] == [
        "<script>",
        "onclick of <b>",
        "a stored output of the kind application/javascript",
    ]


def test_what_a_notebook_keeps_beside_its_cells_acts_too(tmp_path: Path) -> None:
    attached = {"x": {"image/svg+xml": "<svg onload=x>"}}
    item = _notebook(tmp_path, {"cell_type": "markdown", "source": "a", "metadata": {}, "attachments": attached})
    whole = json.loads(Path(str(item["copy"])).read_text())
    whole["metadata"]["widgets"] = {"state": {}}
    whole["cells"].append(_code("1", **{"application/vnd.bokehjs_exec.v0+json": "", "image/png": "aGk="}))
    Path(str(item["copy"])).write_text(json.dumps(whole))
    sentences = [sentence for _, sentence in inspect_published({"kind": "notebook", **item})["active"]]
    assert sentences == [
        "widgets with a state of their own",
        "onload of <svg>",
        "a stored output of the kind application/vnd.bokehjs_exec.v0+json",
    ]


def test_code_behind_a_magic_is_read(tmp_path: Path) -> None:
    item = _notebook(
        tmp_path, *map(_code, ["%timeit -n 10 -r3 eval('1')\n%time f(1)", "%%time\n%timeit", "%%timeit -n1\nx = 1"])
    )
    inspection = inspect_source({"kind": "source", **item})
    (reach,) = inspection["reaches"]
    assert "code that is made while it runs (eval)" in reach["sentence"]
    assert not inspection["troubles"]


def test_names_in_letters_of_another_alphabet_are_told(tmp_path: Path) -> None:
    item = _notebook(tmp_path, _code("x = 'größe'\ndef pr\u0435process(): ..."))
    (trouble,) = inspect_source({"kind": "source", **item})["troubles"]
    assert "letters that are easily taken for others" in trouble["sentence"]


def test_a_picture_that_hides_a_tag_in_its_style_is_active() -> None:
    """A browser reads tags there, this reader words."""
    (problem,) = active_html("<svg><style><img src=x onerror=alert(1)></style></svg>")
    assert problem[1] == "a <style> that holds or loads something"
    assert active_html("<style>.dataframe tr > td {color: red}</style>") == []


def test_a_notebook_that_is_too_long_is_no_notebook_without_findings(tmp_path: Path) -> None:
    item = _notebook(
        tmp_path, {"cell_type": "markdown", "source": "<script>x</script>" + " " * (17 << 20), "metadata": {}}
    )
    inspection = inspect_published({"kind": "notebook", **item})
    assert inspection["too_long"] == "it has more than 16 MiB, and is not read"


def test_code_of_a_notebook_is_read_with_its_lines(tmp_path: Path) -> None:
    item = _notebook(tmp_path, _code("x = 1"), _code("%matplotlib inline\nimport socket"))
    inspection = inspect_source({"kind": "source", **item})
    (reach,) = inspection["reaches"]
    assert "import socket" in (tmp_path / "n.ipynb").read_text().splitlines()[reach["line"] - 1]
    assert inspection["statements"] == 1


@pytest.mark.parametrize(
    ("stored", "printed", "same"),
    [
        ("top1 = 0.91\n", "top1 = 0.9100001\n", True),
        ("top1 = 0.99\n", "top1 = 0.91\n", False),
        ("<x at 0x7f01>", "<x at 0x9a>", True),
        ("took 0.51 s", "took 3.2 s", True),
        ("[1 2 3]", "[1 2 4]", False),
        ("all good", "all bad", False),
        ("a\n\nb", "a\nb", True),
        ("a\nb", "a", False),
        ("off by 1.19e-07", "off by 2.4e-07", True),
        ("the model's accuracy = 0.99", "the model's accuracy = 0.51", False),
        ("min 0.9 max 0.95", "min 0.1 max 0.15", False),
        ("1.2 ms for 4 samples", "3.4 ms for 4 samples", True),
        ("1.2 ms for 4 samples", "1.2 ms for 5 samples", False),
        ("10/10 [00:01<00:00, 9.8it/s]", "10/10 [00:03<00:00, 3.1it/s]", True),
    ],
)
def test_a_stored_output_is_what_the_cell_gives(stored: str, printed: str, same: bool) -> None:
    assert (difference(stored, printed) is None) is same
    report = Report(printed=(Printed(cell=1, line=3, text=printed, stored=stored),))
    wanted = CheckOutcome.PASSED if same else CheckOutcome.FAILED
    assert outputs_check({"v.ipynb": report}).outcome is wanted


METADATA = {
    "name": "m", "version": "1", "title": "t", "description": "d", "license": "MIT", "scenario": "s", "use_cases": ["u"],
    "source": "s", "references": ["r"], "contributors": ["c"], "opset": 17,
    "inputs": [{"name": "x", "dtype": "float32", "shape": [1]}], "outputs": [{"name": "y", "dtype": "float32", "shape": [1]}],
    "dataset": {"name": "d", "source": "s", "license": "l", "preparation": "p"},
    "accuracy": {"metric": "top1_accuracy", "value": 0.987, "read": "output:top1"},
}  # fmt: skip
OPEN = "session = InferenceSession('model.onnx')\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('nothing to see')", "never opens model.onnx"),
        ("import numpy", "holds nothing"),
        (OPEN + "print('top1 = 0.99')", "prints 'top1 = 0.99' as it stands in the code"),
        (OPEN + "top1 = 0.987\nprint('top1 =', top1)", "has the claimed value 0.987 in its code"),
        (
            OPEN + "import tomllib\nm = tomllib.load('metadata.toml')\nprint('top1 =', m['accuracy']['value'])",
            "reads the claim",
        ),
        (OPEN + "print('computing top1: ...')", ""),
        (
            "m = onnx.load('model.onnx')\nm.graph.initializer[0].raw_data = b''\ns = InferenceSession(m.SerializeToString())",
            "makes or changes a model, and may run that",
        ),
        ("m = onnx.load('model.onnx')\ns = InferenceSession(m.SerializeToString())", ""),
        (OPEN + "other = InferenceSession('better.onnx')", "names the model 'better.onnx', and may run that"),
        (
            "import tomllib\nm = tomllib.load('metadata.toml')\nopen(m['model'])\nr = {'accuracy': 1}\nprint('top1 =', r)",
            "",
        ),
        (OPEN + "print('top1 =', float((session.run(None, {})[0] == 1).mean()), 0.5)", ""),
    ],
)
def test_a_validation_notebook_computes_what_it_prints(tmp_path: Path, code: str, words: str) -> None:
    item = _notebook(tmp_path, *(_code(cell) for cell in code.split("\n")))
    read = {"validation.ipynb": msgspec.convert(inspect_source({"kind": "source", **item}), SourceText)}
    sentences = [finding.sentence for finding in notebook_findings(read, Metadata.model_validate(METADATA))]
    assert [words in sentence for sentence in sentences] == ([True] if words else [])


def test_a_script_that_readers_are_given_is_the_one_that_is_used(tmp_path: Path) -> None:
    script = "def preprocess(x):\n    return x / 16\n"
    more = "from helper import crop\nMEAN = 7\nclass Maker:\n    def __call__(self, x):\n        return preprocess(x)\n"

    def findings(code: str) -> list[str]:
        (tmp_path / "preprocess.py").write_text(script + more)
        given: dict[str, object] = {"copy": str(tmp_path / "preprocess.py"), "path": "preprocess.py"}
        items = [given, _notebook(tmp_path, _code(code))]
        sources = [msgspec.convert(inspect_source({"kind": "source", **item}), SourceText) for item in items]
        read = dict(zip(("preprocess.py", "validation.ipynb"), sources, strict=True))
        return [finding.sentence for finding in processing_findings(read, Metadata.model_validate(METADATA))]

    assert findings("from preprocess import preprocess\npreprocess(1)") == []
    assert findings(script + "preprocess(1)") == []
    (other,) = findings(script.replace("16", "255") + "preprocess(1)")
    assert "has a preprocess of its own" in other
    (idle,) = findings("from preprocess import preprocess\nopen('model.onnx')\nx = 1 / 16")
    assert "does not use preprocess.py" in idle
    opens = "s = open('model.onnx')\n"
    assert findings(f"from preprocess import preprocess as p\n{opens}s.run(None, {{'x': p(1)}})") == []
    guarded = "try:\n    from preprocess import preprocess\nexcept ImportError:\n    preprocess = None\n"
    assert findings(f"{guarded}{opens}s.run(None, {{'x': preprocess(1)}})") == []
    assert findings(f"from preprocess import Maker\n{opens}s.run(None, {{'x': Maker()(1)}})") == []
    assert findings(f"import preprocess as p\n{opens}s.run(None, {{'x': 1 - p.MEAN}})") == []
    assert findings(f"from preprocess import crop\n{opens}s.run(None, {{'x': crop(1)}})") == []
    twice = "from preprocess import preprocess as load\nload(1)\nfrom json import loads as load\n"
    (renamed,) = findings(f"{twice}{opens}load('1')")
    assert "calls something else so" in renamed
    (replaced,) = findings(f"import preprocess as p\n{opens}p.preprocess = abs\ns.run(None, {{'x': p.preprocess(1)}})")
    assert "calls something else so" in replaced
    for imports in ("import preprocess as p", "from . import preprocess as p"):
        (changed,) = findings(f"{imports}\n{opens}p.MEAN = 3\ns.run(None, {{'x': p.preprocess(1)}})")
        assert "gives MEAN of preprocess.py another value" in changed
        assert findings(f"{imports}\n{opens}mean = p.MEAN\ns.run(None, {{'x': p.preprocess(1)}})") == []
    (fed,) = findings(
        "from preprocess import preprocess\ns = open('model.onnx')\npreprocess(1)\ns.run(None, {'x': 1 / 16})"
    )
    assert "what no function of preprocess.py made" in fed
    (computed,) = findings(
        "from preprocess import preprocess\ns = open('model.onnx')\ns.run(None, {'x': preprocess(1) * 2})"
    )
    assert "computed from the answer of preprocess" in computed
    (none,) = findings("x = 1 / 16")
    assert "does not use preprocess.py" in none


def test_a_picture_that_nobody_sees_tells_its_host_who_reads() -> None:
    ((_, problem),) = active_markdown("<img src='https://images.net/a.gif' width='1px'>")
    assert problem == "a picture that nobody sees, which tells its host who reads"
    assert active_markdown("<img src='https://images.net/a.gif' width='100%' height='120'>") == []


def test_a_list_of_requirements_may_lie_in_a_folder_of_that_name() -> None:
    kinds = {
        path: public._kind(Path(path)) for path in ("requirements/base.txt", "requirements/notes.md", "lists/base.txt")
    }
    assert kinds == {
        "requirements/base.txt": "requirements",
        "requirements/notes.md": "readme",
        "lists/base.txt": "page",
    }


def test_words_of_the_template_are_left_in_a_notebook(tmp_path: Path) -> None:
    cell = {"cell_type": "markdown", "metadata": {}, "source": "# TODO: say what this shows"}
    inspection = inspect_published({"kind": "notebook", **_notebook(tmp_path, cell)})
    assert inspection["left"] == ((0, "TODO"),)


def test_an_address_that_runs_something_is_no_reference(tmp_path: Path) -> None:
    file = tmp_path / "metadata.toml"
    file.write_text('references = ["JavaScript:alert(1)", "Data: of 1998", "doi:10.1000/1"]\n', encoding="utf-8")
    inspection = inspect_published({"kind": "metadata", "copy": str(file), "path": file.name})
    assert inspection["active"] == ((0, "an address with javascript:"),)
