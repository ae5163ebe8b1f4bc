"""The README of a submission: written from its metadata, and below that whatever else its author has to say.

What the metadata say is there once, as it was written from them: nobody compares two texts by their meaning.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay_zoo.readme_badges import is_harmless_badge

if TYPE_CHECKING:
    from markdown_it.token import Token

    from assay_zoo.metadata import Metadata, Port

TITLES = (
    "Description", "Use cases", "Source", "Inputs and outputs", "Pre- and post-processing", "Data set", "Accuracy",
    "References", "Contributors", "License",
)  # fmt: skip
"""Of the sections that are written from the metadata, in their order."""
_KEYS = {title.casefold() for title in TITLES}
_LIMITS = {"maxNesting": 20}
_BESIDE = ("link_open", "link_close", "softbreak", "hardbreak")
_AROUND_PICTURES = re.compile(r"</?(?:p|a|div|br|picture|source|img)\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True)
class Difference:
    """What is wrong with a README; `line` counts from 1, 0 for none."""

    line: int
    sentence: str


@dataclass(frozen=True)
class _Block:
    """A part of a README and the line on which it begins; `heading` is "" unless it is of the second level."""

    line: int
    text: str
    heading: str


def shape_text(shape: Sequence[int | str]) -> str:
    """`(batch, 1, 8, 8)`; `()` for a scalar."""
    return f"({', '.join(map(str, shape))})"


def readme_text(metadata: Metadata, before: str = "") -> str:
    """A README with every required section, written from the metadata. Of the one `before` it the author's own sections
    stay, of the first and the second level, below the others."""
    title, *sections = _parts(metadata)
    first, *blocks = _placed(before)
    badges = _badges(first.text, metadata)
    own = [block.text for block in blocks if block.heading not in _KEYS]
    return "\n".join(
        [title, *(f"{text.strip()}\n" for text in badges), *sections, *(f"{text.strip()}\n" for text in own)]
    )


def line_above_sections(text: str, metadata: Metadata) -> int:
    """The first line beside title and badges that stands above every section, 0 for none: `readme_text` has no place for it."""
    from markdown_it import MarkdownIt

    above = _placed(text)[0].text
    for badges in _badges(above, metadata):
        above = above.replace(badges, "\n" * badges.count("\n"))
    titles = [token.map for token in MarkdownIt("commonmark", _LIMITS).parse(above) if _level(token) == 1 and token.map]
    title = range(*titles[0]) if titles else range(0)
    lines = enumerate(above.split("\n"))
    return next((at + 1 for at, line in lines if line.strip() and at not in title), 0)


def own_sections(text: str) -> str:
    """What stands below the sections that are written from the metadata, each line where it was."""
    own = [block.text if block.heading not in _KEYS else "\n" * block.text.count("\n") for block in _placed(text)[1:]]
    return "\n".join(["\n" * _placed(text)[0].text.count("\n"), *own])


def _parts(metadata: Metadata) -> list[str]:
    """The title, then section by section."""
    m = metadata
    bodies = (
        _written(m.description),
        _bullets(m.use_cases),
        _written(m.source),
        "\n".join((*_table("Input", m.inputs), "", *_table("Output", m.outputs))),
        f"`{m.preprocessing}` makes the inputs, `{m.postprocessing}` reads the outputs; `{m.inference}` shows both.",
        "\n".join(f"- {key}: {_written(value)}" for key, value in m.dataset.model_dump().items()),
        f"`{m.accuracy.metric}` = {m.accuracy.value:g} ({m.accuracy.direction} is better), see `{m.validation}`.",
        _bullets(m.references),
        _bullets(m.contributors),
        _written(m.license),
    )
    sections = (f"## {title}\n\n{body}\n" for title, body in zip(TITLES, bodies, strict=True))
    return [f"# {_written(m.title)}\n", *sections]


def _bullets(values: Sequence[str]) -> str:
    return "\n".join(f"- {_written(value)}" for value in values)


def _table(kind: str, ports: Sequence[Port]) -> Iterator[str]:
    yield f"| {kind} | Type | Shape | Meaning |"
    yield "|---|---|---|---|"
    for port in ports:
        yield f"| `{port.name}` | {port.dtype} | `{shape_text(port.shape)}` | {_written(port.description)} |"


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
    """Everything in which the README is not what is written from the metadata, in the order of the sections."""
    title, *wanted = (_trimmed(part) for part in _parts(metadata))
    first, *blocks = _placed(text)
    above = first.text
    for badges in _badges(above, metadata):
        above = above.replace(badges, "")
    problems = (
        [] if _trimmed(above) == title else [Difference(1, f"does not begin with the title alone, {title.strip()!r}")]
    )
    problems += missing_sections(text)
    for name, section in zip(TITLES, wanted, strict=True):
        here = [(block.line, _trimmed(block.text)) for block in blocks if block.heading == name.casefold()]
        problems += [
            Difference(
                line,
                f"does not say in section {name!r} what metadata.toml says: `assay zoo readme --overwrite` writes it",
            )
            for line, block in here
            if block != section
        ]
        problems += [
            Difference(line, f"has section {name!r} a second time") for line, block in here[1:] if block == section
        ]
    return problems


def _badges(text: str, metadata: Metadata) -> list[str]:
    """Paragraphs of pictures alone, as they stand in `text`; none that say how good the model is, or another licence."""
    from markdown_it import MarkdownIt

    lines, badges = text.split("\n"), []
    for token in MarkdownIt("commonmark", _LIMITS).parse(text):
        parts = token.children or []
        words = "".join(part.content for part in parts if part.type not in ("image", *_BESIDE)).strip()
        shown = token.type == "inline" and not words and any(part.type == "image" for part in parts)
        shown |= (
            token.type == "html_block"
            and "<img" in token.content
            and not _AROUND_PICTURES.sub("", token.content).strip()
        )
        if not shown or not token.map:
            continue
        paragraph = "\n".join(lines[slice(*token.map)])
        if is_harmless_badge(token, paragraph, metadata.license):
            badges.append(paragraph)
    return badges


def missing_sections(text: str) -> list[Difference]:
    """The required sections that are not there, together: all that can be said without metadata."""
    there = {block.heading for block in _placed(text)[1:]}
    names = [repr(name) for name in TITLES if name.casefold() not in there]
    if not names:
        return []
    listed = f"no section {names[0]}" if len(names) == 1 else f"no sections {', '.join(names[:-1])} and {names[-1]}"
    return [Difference(0, f"has {listed}: `assay zoo readme` writes it from metadata.toml")]


def _placed(text: str) -> list[_Block]:
    """The title with what stands before the next heading, then each heading of the first and second level with what is
    below it. Inside of a fence nothing is a heading."""
    from markdown_it import MarkdownIt

    text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark", _LIMITS).parse(text)
    heads = [(token.map[0], _level(token)) for token in tokens if _level(token) in (1, 2) and token.map]
    if heads and heads[0][1] == 1:
        heads = heads[1:]
    begins, ends = [0, *(at for at, _ in heads)], [*(at for at, _ in heads), len(lines)]
    texts = ["\n".join(lines[begin:end]) for begin, end in zip(begins, ends, strict=True)]
    headings = [
        "",
        *(
            _heading(heading_text) if level == 2 else ""
            for heading_text, (_, level) in zip(texts[1:], heads, strict=True)
        ),
    ]
    return [
        _Block(at + 1, section_text, heading) for at, section_text, heading in zip(begins, texts, headings, strict=True)
    ]


def _level(token: Token) -> int:
    """Of the heading that begins here, 0 for none: one in a quotation or a list is none."""
    return int(token.tag[1:]) if token.type == "heading_open" and token.level == 0 else 0


def _heading(block: str) -> str:
    """The words of the heading with which it begins, whatever its marks."""
    words = block.partition("\n")[0].strip(" #*_`:")
    return " ".join(words.split()).casefold()


def _trimmed(block: str) -> str:
    return "\n".join(line.rstrip() for line in block.strip().split("\n"))


def _plain(children: Sequence[object]) -> str:
    """The words of inline Markdown."""
    return "".join(
        getattr(child, "content", "") for child in children if getattr(child, "type", "") in ("text", "code_inline")
    )
