"""Texts of tokens and all that they begin with, by number: a step for each token, however many stand before it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.schedules import PADDED


class Beginnings:
    """Beginnings of texts, numbered from 0 in the order in which they were met. `lengths`: how many tokens each has."""

    def __init__(self, texts: Iterable[Iterable[int]] = ()) -> None:
        self.lengths: list[int] = []
        self._numbers: dict[tuple[int, int], int] = {}
        for text in texts:
            self.of(text)

    def of(self, tokens: Iterable[int], behind: int = PADDED) -> list[int]:
        """The number of each text that ends at one of these tokens; PADDED for padding. The tokens stand behind the text of
        the number `behind` (PADDED: behind none)."""
        numbers = []
        for token in tokens:
            behind = behind if token == PADDED else self._number(behind, token)
            numbers.append(PADDED if token == PADDED else behind)
        return numbers

    def known(self, tokens: Iterable[int]) -> list[int]:
        """The numbers of those that were met, the shortest first. None is given a number."""
        numbers: list[int] = []
        for token in tokens:
            number = self._numbers.get((numbers[-1] if numbers else PADDED, token))
            if number is None:
                break
            numbers.append(number)
        return numbers

    def _number(self, behind: int, token: int) -> int:
        number = self._numbers.setdefault((behind, token), len(self.lengths))
        if number == len(self.lengths):
            self.lengths.append(1 if behind == PADDED else self.lengths[behind] + 1)
        return number
