"""The README of a submission: written from its metadata, or compared with it, section by section.

A person may write more than this in any section and add others: what the metadata say must stand there, word for word up
to white space and Markdown's marks, because it is what a reader believes.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from assay_zoo.metadata import Metadata, Port


@dataclass(frozen=True)
class Fact:
    """`key` of the metadata and what the section must say; `says` tells whether a text does, where words alone cannot."""

    key: str
    value: str
    says: Callable[[str], bool] | None = None

    def stands_in(self, body: str) -> bool:
        """Whether a section's text, as `_same` gives it, says this."""
        return self.says(body) if self.says else _says(body, self.value)


@dataclass(frozen=True)
class Section:
    """`titles` are taken as headings, the first is what we write; case and punctuation do not count."""

    titles: tuple[str, ...]
    facts: Callable[[Metadata], list[Fact]]


@dataclass(frozen=True)
class Difference:
    """What is wrong with a README; `line` counts from 1, 0 for none; `key` is the metadata's, "" where a section is missing."""

    line: int
    sentence: str
    key: str = ""


def _each(key: str, values: Sequence[str]) -> list[Fact]:
    return [Fact(f"{key}[{number}]", value) for number, value in enumerate(values)]


def _ports(key: str, ports: Sequence[Port]) -> list[Fact]:
    facts = []
    for number, port in enumerate(ports):
        here = f"{key}[{number}]"
        facts += [Fact(f"{here}.name", port.name), Fact(f"{here}.dtype", port.dtype)]
        facts.append(Fact(f"{here}.shape", shape_text(port.shape), partial(_says_shape, port.shape)))
    return facts


def _says_shape(shape: Sequence[int | str], body: str) -> bool:
    """`(batch, 1, 8)`, `[batch, 1, 8]` and `batch x 1 x 8` are the same; a scalar is `()`, `[]` or the word."""
    if not shape:
        return re.search(r"\(\)|\[\]|\bscalar\b", body) is not None
    dims = r"\s*[,x×*]\s*".join(re.escape(str(one).casefold()) for one in shape)
    return re.search(rf"(?<![\w,])(?<!, ){dims}(?!\w|\s*[,×]\s*\w)", body) is not None


def _says_number(value: float, body: str) -> bool:
    """Any metric that is the value, rounded to no less than two decimals (one, as a percentage)."""
    for text, decimals, percent in re.findall(r"(?<![\w.])(-?\d+(?:\.(\d+))?)\s*(%?)", body):
        told, places = float(text), len(decimals)
        if told == value or (places >= 2 and told == round(value, places)):
            return True
        if percent and (told == 100 * value or (places >= 1 and told == round(100 * value, places))):
            return True
    return False


def shape_text(shape: Sequence[int | str]) -> str:
    """`(batch, 1, 8, 8)`; `()` for a scalar."""
    return f"({', '.join(map(str, shape))})"


SECTIONS = (
    Section(("Description", "About"), lambda m: [Fact("description", m.description)]),
    Section(("Use cases", "Use case", "Intended use"), lambda m: _each("use_cases", m.use_cases)),
    Section(("Source", "Model creation", "Origin"), lambda m: [Fact("source", m.source)]),
    Section(
        ("Inputs and outputs", "Inputs/outputs", "Input and output"),
        lambda m: [*_ports("inputs", m.inputs), *_ports("outputs", m.outputs)],
    ),
    Section(
        ("Pre- and post-processing", "Preprocessing and postprocessing", "Processing"),
        lambda m: [Fact("preprocessing", m.preprocessing), Fact("postprocessing", m.postprocessing)],
    ),
    Section(
        ("Data set", "Dataset", "Data"),
        lambda m: [Fact(f"dataset.{key}", value) for key, value in m.dataset.model_dump().items()],
    ),
    Section(
        ("Accuracy", "Validation accuracy", "Metric and accuracy"),
        lambda m: [
            Fact("accuracy.metric", m.accuracy.metric),
            Fact("accuracy.value", f"{m.accuracy.value:g}", partial(_says_number, m.accuracy.value)),
        ],
    ),
    Section(("References", "Reference"), lambda m: _each("references", m.references)),
    Section(("Contributors", "Contributor", "Authors"), lambda m: _each("contributors", m.contributors)),
    Section(("License", "Licence"), lambda m: [Fact("license", m.license)]),
)


def readme_text(metadata: Metadata) -> str:
    """A README with every required section, written from the metadata."""
    m = metadata
    accuracy = f"`{m.accuracy.metric}` = {m.accuracy.value:g} ({m.accuracy.direction} is better), see `{m.validation}`."
    bodies = (
        _written(m.description),
        _bullets(m.use_cases),
        _written(m.source),
        "\n".join((*_table("Input", m.inputs), "", *_table("Output", m.outputs))),
        f"`{m.preprocessing}` makes the inputs, `{m.postprocessing}` reads the outputs; `{m.inference}` shows both.",
        "\n".join(f"- {key}: {_written(value)}" for key, value in m.dataset.model_dump().items()),
        accuracy,
        _bullets(m.references),
        _bullets(m.contributors),
        _written(m.license),
    )
    parts = (f"## {one.titles[0]}\n\n{body}\n" for one, body in zip(SECTIONS, bodies, strict=True))
    return f"# {_written(m.title)}\n\n" + "\n".join(parts)


def _bullets(values: Sequence[str]) -> str:
    return "\n".join(f"- {_written(value)}" for value in values)


def _table(kind: str, ports: Sequence[Port]) -> Iterator[str]:
    yield f"| {kind} | Type | Shape | Meaning |"
    yield "|---|---|---|---|"
    for one in ports:
        yield f"| `{one.name}` | {one.dtype} | `{shape_text(one.shape)}` | {_written(one.description)} |"


def _written(value: str) -> str:
    """The words as Markdown that shows just them: as they are where that does, every sign escaped where it does not."""
    from markdown_it import MarkdownIt

    line = " ".join(value.split())
    tokens = MarkdownIt("commonmark").parse(line)
    kinds = [token.type for token in tokens]
    if (
        kinds == ["paragraph_open", "inline", "paragraph_close"]
        and _plain(tokens[1].children or []) == line
        and "|" not in line
    ):
        return line
    return "".join(f"\\{c}" if c in string.punctuation else c for c in line)


def differences(text: str, metadata: Metadata) -> list[Difference]:
    """Everything in which the README is not what the metadata say, in the order of the sections."""
    found = _sections(text)
    title, _ = found.get("", ("", 0))
    told = [] if _says(title, metadata.title) else [Difference(1, f"the title is not {metadata.title!r}", "title")]
    for section in SECTIONS:
        here = next((found[_key(name)] for name in section.titles if _key(name) in found), None)
        if here is None:
            told.append(Difference(0, f"has no section {section.titles[0]!r}: add it"))
            continue
        body, line = here
        for fact in section.facts(metadata):
            if not fact.stands_in(body):
                sentence = (
                    f"section {section.titles[0]!r} does not say {fact.value!r}, which metadata.toml says in {fact.key}"
                )
                told.append(Difference(line, sentence, fact.key))
    return told


def missing_sections(text: str) -> list[Difference]:
    """The required sections that are not there: all that can be said without metadata."""
    found = _sections(text)
    absent = [one for one in SECTIONS if not any(_key(name) in found for name in one.titles)]
    return [Difference(0, f"has no section {one.titles[0]!r}: add it") for one in absent]


def _sections(text: str) -> dict[str, tuple[str, int]]:
    """Heading (as `_key`) to the plain text below it, and the line of the heading; "" is what the first heading says.

    The text of a section holds that of its subsections, as it is shown and, behind that, as it is written.
    """
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").parse(text)
    found: dict[str, tuple[list[str], int]] = {}
    open_: list[tuple[int, list[str]]] = []
    heading = 0
    for token in tokens:
        if token.type == "heading_open" and token.level == 0:
            heading = int(token.tag[1:])
        elif token.type == "inline" and heading:
            line = token.map[0] + 1 if token.map else 0
            said = _plain(token.children or [])
            found.setdefault("", ([said], line))
            open_ = [(level, body) for level, body in open_ if level < heading]
            body: list[str] = []
            open_.append((heading, body))
            found.setdefault(_key(said), (body, line))
            heading = 0
        elif token.type in ("inline", "fence", "code_block"):
            shown = [_plain(token.children)] if token.children else []
            for _, body in open_:
                body += [*shown, token.content]
    return {name: (_same(" \n ".join(body)), line) for name, (body, line) in found.items()}


def _plain(children: Sequence[object]) -> str:
    """The words of inline Markdown; a link says its target, too."""
    parts = []
    for child in children:
        kind = getattr(child, "type", "")
        if kind in ("text", "code_inline", "html_inline"):
            parts.append(getattr(child, "content", ""))
        elif kind in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif kind == "link_open":
            parts.append(f"{getattr(child, 'attrs', {}).get('href', '')} ")
    return "".join(parts)


def _says(body: str, value: str) -> bool:
    """Whether the words stand in the text, not as a part of longer words: 0.9 does not stand in 0.95, nor MIT in SUMMIT."""
    words = _same(value)
    before = r"(?<!\w)" if words[:1].isalnum() else ""
    after = r"(?!\w|\.\d)" if words[-1:].isalnum() else ""
    decimal = r"(?<!\d\.)" if words[:1].isdigit() else ""
    return re.search(f"{before}{decimal}{re.escape(words)}{after}", body) is not None


def _same(text: str) -> str:
    return " ".join(text.split()).casefold()


def _key(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", heading.casefold()).strip()
