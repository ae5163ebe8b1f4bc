"""Causes that were found before: of the same model at once, and of another model by the pattern of nodes that was wrong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from assay.core.digest import value_digest
from assay.core.job import VerifyJob
from assay.core.region import GraphNode
from assay.core.result import Result
from assay.triage.cause import Cause, Doubt, Pattern, from_json, to_json
from assay.triage.graph import Graph, Places

MOST = 64
"""Places at which one pattern is tried."""
_OPEN = {Doubt.OUT_OF_TIME, Doubt.NOT_REPEATED, Doubt.NO_VALUES}
"""What the next time may end otherwise: with more time, more luck, or a file that is there again."""
LARGEST = 24
"""Nodes of a pattern that is worth looking for: between grids each takes three."""


class KnownCauses:
    """Below the folder of a history. What cannot be read is as if it were not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "triage"

    def of_verdict(self, job: VerifyJob, result: Result) -> list[Cause]:
        """Those of the same model, flow and versions, whose pages are still there; none where anything differs, or where the versions
        are not known: a process that died told none."""
        return self._read(_key(job, result)) if result.versions else []

    def of_request(self, key: str) -> list[Cause]:
        """Those of all red verdicts of the same request."""
        return self._read(key)

    def keep_request(self, key: str, causes: Sequence[Cause]) -> None:
        """As `keep`, for all red verdicts of one request."""
        self._write(key, causes)

    def _read(self, key: str) -> list[Cause]:
        with suppress(OSError, msgspec.MsgspecError):
            causes = from_json((self._folder / f"{key}.json").read_bytes(), list[Cause])
            if all(_has_its_page(cause) for cause in causes):
                # A finding keeps its own name: its script says more than the page that was made of it.
                return [
                    cause if cause.known_title else msgspec.structs.replace(cause, known_as=cause.folder)
                    for cause in causes
                ]
        return []

    def _write(self, key: str, causes: Sequence[Cause]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        if causes and not any(_OPEN & {*cause.doubts} for cause in causes):
            (self._folder / f"{key}.json").write_bytes(to_json(causes))

    def patterns(self, backend: str) -> list[Pattern]:
        """Of causes of that backend, the smallest first."""
        patterns_read = []
        for path in sorted(self._folder.glob("pattern-*.json")):
            with suppress(OSError, msgspec.MsgspecError):
                patterns_read.append(msgspec.json.decode(path.read_bytes(), type=Pattern))
        return sorted(
            (pattern for pattern in patterns_read if pattern.backend == backend),
            key=lambda pattern: len(pattern.operators),
        )

    def keep(self, job: VerifyJob, result: Result, causes: Sequence[Cause]) -> None:
        """What was established; a search that ended early is made again the next time."""
        if result.versions:
            self._write(_key(job, result), causes)
        for cause in causes:
            sure = cause.cures or not _OPEN & {*cause.doubts}
            if cause.pattern is None or cause.known_as or Doubt.SLIPPED in cause.doubts or not sure:
                continue
            pattern = msgspec.structs.replace(cause.pattern, folder=cause.folder)
            self._folder.mkdir(parents=True, exist_ok=True)
            name = value_digest(msgspec.structs.replace(pattern, folder=""))[:16]
            (self._folder / f"pattern-{name}.json").write_bytes(msgspec.json.encode(pattern))


def read_causes(folder: Path) -> Iterator[Cause]:
    """All that were found with the history in `folder`, each once. What cannot be read is as if it were not there."""
    seen: set[tuple[str, str]] = set()
    for path in sorted((folder / "triage").glob("*.json")):
        if path.name.startswith("pattern-"):
            continue
        with suppress(OSError, msgspec.MsgspecError):
            for cause in from_json(path.read_bytes(), list[Cause]):
                if (cause.job_key, cause.folder) not in seen:
                    seen.add((cause.job_key, cause.folder))
                    yield cause


def _has_its_page(cause: Cause) -> bool:
    """Another model of that name may have been written over it since."""
    with suppress(OSError, msgspec.MsgspecError):
        written = msgspec.json.decode((Path(cause.folder) / "cause.json").read_bytes(), type=dict[str, object])
        return (written.get("job_key"), written.get("seconds")) == (cause.job_key, cause.seconds)
    return False


def _key(job: VerifyJob, result: Result) -> str:
    return value_digest((job.case.model.digest, job.case.inputs, job.flow, result.versions))[:24]


def pattern_of(
    graph: Graph, places: Places, backend: str, folder: str, versions: dict[str, str] | None = None
) -> Pattern | None:
    """Of the nodes of a cause; None where it is none to look for: a whole model, or nothing. With `versions` of one that nothing cures,
    which is none to look for where these are not known."""
    nodes = [place for place in sorted(places) if graph.nodes[place].operator != "Constant"]
    if not 0 < len(nodes) <= LARGEST or versions == {}:
        return None
    at = {place: number for number, place in enumerate(nodes)}
    edges = tuple(
        (at[before], at[place])
        for place in nodes
        for name in graph.nodes[place].reads
        if (before := graph.producer.get(name, -1)) in at
    )
    attributes = tuple(graph.nodes[place].attributes for place in nodes) if versions else ()
    operators = tuple(graph.nodes[place].operator for place in nodes)
    types = tuple(graph.nodes[place].dtypes for place in nodes)
    return Pattern(backend, operators, edges, folder, attributes, versions=versions or {}, types=types)


def occurrences(graph: Graph, pattern: Pattern) -> list[Places]:
    """Where these operators stand connected in this way, with the attributes that the pattern names: at most `MOST`."""
    places_found: dict[Places, None] = {}
    if pattern.before_opset and graph.opset >= pattern.before_opset:
        return []
    for chosen in _matches(graph, pattern, []):
        places_found[frozenset(chosen)] = None
        if len(places_found) == MOST:
            break
    return list(places_found)


def _matches(graph: Graph, pattern: Pattern, chosen: list[int]) -> Iterator[list[int]]:
    """Node for node, from the last to the first: a producer is found from what it gives to."""
    number = len(pattern.operators) - 1 - len(chosen)
    if number < 0:
        yield chosen
        return
    reversed_places = {len(pattern.operators) - 1 - at: place for at, place in enumerate(chosen)}
    readers = [reversed_places[to] for start, to in pattern.edges if start == number and to in reversed_places]
    if readers:
        candidates = [graph.producer[name] for name in graph.nodes[readers[0]].reads if name in graph.producer]
    else:
        candidates = list(range(len(graph.nodes)))
    for place in candidates:
        if place in chosen or not _is(graph.nodes[place], pattern, number):
            continue
        if all(_reads(graph, reader, place) for reader in readers):
            yield from _matches(graph, pattern, [*chosen, place])


def _is(node: GraphNode, pattern: Pattern, number: int) -> bool:
    attributes = pattern.attributes[number] if pattern.attributes else {}
    same = (
        node.attributes == attributes
        if pattern.versions
        else all(
            name in node.attributes if value == "*" else node.attributes.get(name, "") == value
            for name, value in attributes.items()
        )
    )
    types = pattern.types[number] if pattern.types else ()
    # Patterns kept before types were have none.
    same_types = not pattern.types or (node.dtypes == types if pattern.versions else _are_alike(node.dtypes, types))
    return same and same_types and node.operator == pattern.operators[number]


def _are_alike(types: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether what is read first is of the same kind of numbers, where both are known."""
    mine, other = (numbers_of(dtypes[0]) if dtypes else "" for dtypes in (types, pattern))
    return mine == other or not mine or not other


def numbers_of(dtype: str) -> str:
    """The kind of a type: "float", "int", "bool", or "" where that is not known."""
    return next((kind for kind in ("float", "int", "bool") if kind in dtype), "")


def _reads(graph: Graph, reader: int, place: int) -> bool:
    return any(name in graph.nodes[reader].reads for name in graph.nodes[place].writes)
