"""Lines of a long text in which one of a few words stands: a search for words is quick, one for a pattern at every letter is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def lines_with(text: str, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(number, line), once each and in their order; `words` in small letters are found in any."""
    whole = "\n".join(text.splitlines())
    small = whole.replace("\u0130", "i").lower()  # the one letter whose small form is two
    ends: dict[int, int] = {}
    for word in words:
        at = small.find(word)
        while at >= 0:
            begin, end = small.rfind("\n", 0, at) + 1, small.find("\n", at)
            ends[begin] = end = len(small) if end < 0 else end
            at = small.find(word, end)
    number, before = 1, 0
    for begin, end in sorted(ends.items()):
        number += whole.count("\n", before, begin)
        before = begin
        yield number, whole[begin:end]
