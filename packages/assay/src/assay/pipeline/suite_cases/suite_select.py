"""Which cases of the suites a run takes: by name, by element type, by share."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assay.core.case import Case
from assay.errors import NothingSelected, UsageError
from assay.pipeline.suite_cases.shares import balanced, name_digest, split_digest


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Empty: everything. `filters` are globs on the name, with its suite or without; `dtypes` of any input or output;
    `shard` is (number from 1, of how many). A case is in the share that its digest says; with `seconds`, what cases took before, shares
    take equally long, and one may be empty."""

    filters: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    shard: tuple[int, int] = (1, 1)
    seconds: Mapping[str, float] | None = None

    @property
    def narrows(self) -> bool:
        """Whether it can leave a case out."""
        return bool(self.filters or self.dtypes) or self.shard[1] > 1


@dataclass(frozen=True)
class Chosen:
    """`split` is the digest of how the cases were shared out, "" where that is by the digest of each name alone."""

    cases: list[Case]
    split: str = ""


def parse_shard(text: str, option: str = "--shard") -> tuple[int, int]:
    """`2/4`; "" is the whole. Raises UsageError."""
    if not text:
        return 1, 1
    number, _, total = text.partition("/")
    if not (number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
        raise UsageError(f"{option} {text!r} is no share; write for example {option} 1/4")
    return int(number), int(total)


def select(cases: Sequence[Case], selection: Selection, *, only: str = "") -> list[Case]:
    """The cases of `choose` alone."""
    return choose(cases, selection, only=only).cases


def choose(cases: Sequence[Case], selection: Selection, *, only: str = "") -> Chosen:
    """In the order given. Raises NothingSelected, naming what took the last case away."""
    if not cases:
        raise NothingSelected("the suites have no case at all: nothing would run")
    if only:
        name = only.rsplit("|", 2)[0]
        kept = [case for case in cases if case.name == name]
        if not kept:
            near = _near(name, [case.name for case in cases], 0.0)
            raise NothingSelected(
                f"--only {only!r} is no job of {len(cases)} cases: it takes CASE|FLOW|KIND, the nearest CASE is {near!r}; "
                f"--filter takes names and globs"
            )
        return Chosen(kept)
    return _own_share(_matching(cases, selection), selection)


def _matching(cases: Sequence[Case], selection: Selection) -> list[Case]:
    """Of all shares."""
    kept = list(cases)
    if selection.filters:
        kept = [case for case in kept if any(_named(case.name, glob) for glob in selection.filters)]
        if not kept:
            return _nothing(f"--filter {' '.join(selection.filters)}", selection.filters[0], cases)
    if selection.dtypes:
        known = sorted({dtype for case in kept for dtype in _dtypes(case)})
        kept = [case for case in kept if _dtypes(case) & set(selection.dtypes)]
        if not kept:
            raise NothingSelected(
                f"no case has --dtype {' '.join(selection.dtypes)}; the types here are {', '.join(known)}"
            )
    return kept


def _own_share(cases: Sequence[Case], selection: Selection) -> Chosen:
    number, total = selection.shard
    if total > 1 and selection.seconds is not None:
        shares = balanced([case.name for case in cases], selection.seconds, total)
        return Chosen([case for case in cases if shares[case.name] == number], split_digest(shares))
    kept = [case for case in cases if share_of(case.name, total) == number]
    if not kept:
        raise NothingSelected(f"--shard {number}/{total} holds no case; make fewer shards")
    return Chosen(kept)


def share_of(name: str, total: int) -> int:
    """From 1 to `total`, by the digest of the name: the same on every machine, whatever else is selected."""
    return int.from_bytes(name_digest(name)[:8], "big") % total + 1


def _named(name: str, glob: str) -> bool:
    bare = name.partition("/")[2]
    return glob in (name, bare) or fnmatchcase(name, glob) or fnmatchcase(bare, glob)


def _dtypes(case: Case) -> set[str]:
    return {spec.dtype for spec in (*case.model.inputs, *case.model.outputs)}


def _nothing(what: str, text: str, cases: Sequence[Case]) -> list[Case]:
    names = [case.name.partition("/")[2] for case in cases]
    near = _near(text.rpartition("/")[2].strip("*"), names, 0.3)
    hint = f"; the nearest name is {near!r}" if near else ""
    raise NothingSelected(f"{what} matches none of {len(cases)} cases{hint}")


def _near(name: str, names: Sequence[str], cutoff: float) -> str:
    """ "" where none is."""
    ending = [known for known in names if known.endswith(f"/{name}")]
    return next(iter(ending or difflib.get_close_matches(name, names, n=1, cutoff=cutoff)), "")
