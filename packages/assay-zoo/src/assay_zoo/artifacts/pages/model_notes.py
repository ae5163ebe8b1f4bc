"""Words in an ONNX file that nothing runs: notes at the model, its graphs, nodes, values and tensors, and its tables of metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from assay_zoo.artifacts.rights.restricted_use import restricted_in_description

if TYPE_CHECKING:
    from onnx import ModelProto

_OF_EXPORTERS = ("pkg.torch.", "namespace", "pkg.onnxscript.")
"""Keys under which an exporter keeps its own code."""
_MOST_LETTERS = 1 << 20


def restriction_in_notes(proto: ModelProto) -> str:
    """Words that keep a use to some: in one note, or in all of them, one behind the other; "" for none."""
    texts = list(dict.fromkeys(text.strip() for text in _notes(proto) if text.strip()))
    alone = next(filter(None, map(restricted_in_description, texts)), "")
    return alone or restricted_in_description(" ".join(texts)[:_MOST_LETTERS])


def _notes(proto: ModelProto) -> Iterator[str]:
    """In the order of the file."""
    waiting: list[Any] = [proto]
    while waiting:
        message = waiting.pop()
        for prop in getattr(message, "metadata_props", ()):
            yield from () if prop.key.startswith(_OF_EXPORTERS) else (prop.value,)
        yield getattr(message, "doc_string", "")
        parts: list[Any] = []
        for name in ("graph", "g"):
            parts += [getattr(message, name)] if hasattr(message, name) and message.HasField(name) else []
        for name in (
            "graphs",
            "functions",
            "node",
            "attribute",
            "input",
            "output",
            "value_info",
            "initializer",
            "opset_import",
        ):
            listed = getattr(message, name, ())
            parts += [part for part in listed if not isinstance(part, str)]
        waiting += reversed(parts)
