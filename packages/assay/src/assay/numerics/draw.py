"""What a value has of random draws."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draw:
    """The operators whose draws decide the numbers of a value, and its sizes: "" where none does."""

    numbers: str = ""
    sizes: str = ""

    def __or__(self, other: Draw) -> Draw:
        return Draw(self.numbers or other.numbers, self.sizes or other.sizes)

    def __bool__(self) -> bool:
        return bool(self.numbers or self.sizes)

    @property
    def throughout(self) -> Draw:
        """Of what is made as often, or in such parts, as this value says."""
        by = self.numbers or self.sizes
        return Draw(by, by)


NOTHING = Draw()
