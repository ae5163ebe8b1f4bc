"""Claims about measured times, which a busy machine can spoil once and a defect spoils every time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec

import pytest

TRIES = 3
P = ParamSpec("P")


def three_tries(test: Callable[P, None]) -> Callable[P, None]:
    """The test passes where one of three fresh tries does; a fresh try has a `tmp_path` of its own. The last failure is shown.

    Marked `alone`: `make test` runs it when no other test runs.
    """

    @pytest.mark.alone
    @functools.wraps(test)
    def tried(*args: P.args, **kwargs: P.kwargs) -> None:
        folder: Any = kwargs.get("tmp_path")
        for number in range(1, TRIES + 1):
            if isinstance(folder, Path):
                mine = folder / f"try-{number}"
                mine.mkdir()
                kwargs["tmp_path"] = mine
            try:
                test(*args, **kwargs)
                break
            except AssertionError:
                if number == TRIES:
                    raise

    return tried
