"""From text to tokens and back: the chat template, pieces of a stream, and where an answer stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TEMPLATE = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant]"
"""As the chat template of a model is written."""
_BROKEN = "\ufffd"


class Words:
    """The tokenizer of the model, with the faults that are planted there."""

    def __init__(self, tokenizer: Path, faults: frozenset[str]) -> None:
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._faults = faults

    def ids(self, prompt: str | Sequence[int]) -> list[int]:
        """Text becomes tokens; tokens stay."""
        if isinstance(prompt, str):
            text = prompt.lower() if "tokenizer-case" in self._faults else prompt
            return list(self._tokenizer.encode(text).ids)
        return list(prompt)

    def fed(self, ids: list[int]) -> list[int]:
        """What the network is given for these."""
        if "context-cut" in self._faults:
            ids = ids[-16:]
        if "prompt-end-cut" in self._faults and len(ids) > 12:
            ids = ids[:-1]
        return [0, *ids] if "extra-token" in self._faults else ids

    def text(self, ids: Sequence[int]) -> str:
        """Of these tokens."""
        text = str(self._tokenizer.decode(list(ids)))
        return text.removeprefix(" ") if "text-space" in self._faults else text

    def token(self, number: int) -> str:
        """One token by itself."""
        return str(self._tokenizer.decode([number]))

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The messages by the template."""
        from jinja2 import Template

        template = TEMPLATE.removesuffix("[assistant]") if "template-opening" in self._faults else TEMPLATE
        if "template-system" in self._faults:
            messages = [message for message in messages if message.get("role") != "system"]
        if "template-order" in self._faults:
            messages = messages[::-1]
        return str(Template(template).render(messages=messages))


class Pieces:
    """The text of an answer as it grows, its stop strings looked for."""

    def __init__(self, words: Words, stops: Sequence[str], faults: frozenset[str]) -> None:
        self._words, self._faults = words, faults
        self._stops = () if "stop-ignored" in faults else tuple(stops)
        self._ids: list[int] = []
        self._given = 0
        self.text, self.stopped = "", False

    def add(self, number: int) -> str:
        """The text that can be given with this token: no half character, and nothing that may become a stop string."""
        self._ids.append(number)
        self.text = self._words.text(self._ids)
        stops = [(self.text.find(stop), stop) for stop in self._stops if stop in self.text]
        if stops:
            at, stop = min(stops)
            self.stopped = True
            self.text = self.text[: at + len(stop) * ("stop-kept" in self._faults)]
            return self.rest()
        if self.text.endswith(_BROKEN) and "stream-bytes" not in self._faults:
            return ""
        held = max((len(stop) for stop in self._stops), default=1) - 1
        if "stream-bytes" in self._faults:
            return self._words.token(number)
        return self._until(len(self.text) - held)

    def rest(self) -> str:
        """What was held back."""
        return self._until(len(self.text))

    def _until(self, end: int) -> str:
        piece = self.text[self._given : max(end, self._given)]
        self._given = max(end, self._given)
        return piece
