"""Plug-ins by entry point: what there is, what is broken, what to install. Nothing is imported before it is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from typing import Any

import msgspec

from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.environment import SEPARATOR, split_flow
from assay.core.flow import Flow
from assay.core.note import Note, noted
from assay.core.refusals.name_codes import NameCode, name_hint
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import HarnessError, UnknownName
from assay.ports import Availability, Backend, Transform, library_name, needs_samples

BACKENDS = "assay.backends"
TRANSFORMS = "assay.transforms"
COMMANDS = "assay.commands"


@dataclass(frozen=True)
class Catalogue:
    """What the backends offer. `broken` maps the name of a plug-in that could not be used to the reason."""

    backends: dict[str, Backend]
    flows: dict[str, Flow]
    broken: dict[str, str]


FAULTY = ("faulty", "miscompiler")
"""Backends that are wrong on demand, for tests: no list of flows shows them."""
UNLISTED = (*FAULTY, "oip", "openai")
"""With those that need an address: nothing is known of them here."""


def names(group: str) -> list[str]:
    """All names of a group (`assay.backends`), sorted, broken plug-ins included: nothing is imported."""
    return sorted(_points(group))


def packages(group: str) -> list[str]:
    """The top-level packages that bring something to a group, sorted: nothing is imported."""
    return sorted({point.module.partition(".")[0] for point in _points(group).values()})


def load(group: str, name: str) -> Any:
    """The object behind the entry point, imported now.

    Raises `UnknownName` with the nearest name, or with the command that installs what is missing; `HarnessError` for a
    plug-in that cannot be imported.
    """
    points = _points(group)
    kind = group.removeprefix("assay.").removesuffix("s")
    if name not in points:
        raise UnknownName(unknown(kind, name, points))
    try:
        return points[name].load()
    except ModuleNotFoundError as error:
        if name in _extras() and not (error.name or "").startswith("assay"):
            raise UnknownName(noted(UsageCode.PLUGIN_NEEDS, kind=kind, name=name, package=error.name or "")) from error
        raise HarnessError(_broken(kind, name, points[name], error)) from error
    except Exception as error:  # a third party's module may raise anything on import: named, and raised as ours
        raise HarnessError(_broken(kind, name, points[name], error)) from error


def catalogue() -> Catalogue:
    """Every backend, instantiated, and every flow by name. A broken plug-in is listed with its reason, no more."""
    plugins_found = Catalogue({}, {}, {})
    for name in _ours_first(_points(BACKENDS)):
        try:
            backend, flows = _offer(name)
        except (HarnessError, UnknownName) as error:
            plugins_found.broken[name] = str(error)
            continue
        twice = sorted(flows.keys() & plugins_found.flows.keys())
        if twice:
            other = plugins_found.flows[twice[0]].backend
            plugins_found.broken[name] = (
                f"backend {name!r} offers the flow {twice[0]!r}, which {other!r} has; remove one of them"
            )
            continue
        plugins_found.backends[name] = backend
        plugins_found.flows.update(flows)
    return plugins_found


def availability(name: str) -> Availability:
    """Of the backend in this interpreter. One that is not known here, or is broken, is not available."""
    try:
        backend, _ = _offer(name)
        return backend.availability()
    except (HarnessError, UnknownName) as error:
        return Availability(available=False, reason=error.reason)


def transforms_available(flow: Flow) -> list[Availability]:
    """One for each of its transforms, in this interpreter."""
    return [load(TRANSFORMS, spec.partition(":")[0])().availability() for spec in flow.transforms]


def is_calibrated(spec: str) -> bool:
    """Whether a transform, as a flow tells it, needs samples. Raises as `load`."""
    name, _, argument = spec.partition(":")
    transform: Transform = load(TRANSFORMS, name)()
    return needs_samples(transform, argument)


def find_flow(name: str) -> Flow:
    """The flow of that name; `flow@environment` is that flow in another environment, `flow+transform` with one more transform
    (`onnxruntime+int8-qdq:per-channel@ort130`).

    Raises `UnknownName` with the nearest, the install command, or why a backend is broken. Whether there is such an
    environment is not looked at: it is found out where environments are known.
    """
    if (own := _offered(name)) is not None:
        return own
    base, environment = split_flow(name)
    if environment:
        return msgspec.structs.replace(find_flow(base), name=name, environment=environment)
    plugins_here = catalogue()
    if name in plugins_here.flows:
        return plugins_here.flows[name]
    plain, *more = name.split("+")
    if more:
        return with_transforms(find_flow(plain), more)
    for backend, reason in plugins_here.broken.items():
        if name == backend or name.startswith(f"{backend}-"):
            raise UnknownName(noted(UsageCode.FLOW_NOT_AVAILABLE, flow=name, error=reason))
    # Faulty flows are for tests: no way to deploy a model.
    offered = [flow_name for flow_name, flow in plugins_here.flows.items() if flow.backend not in UNLISTED]
    raise UnknownName(noted(UsageCode.NO_SUCH_FLOW, error=unknown("flow", name, offered)))


def _offered(name: str) -> Flow | None:
    """By the backend after which the flow is called, as most are: the other thirty are not imported for it."""
    for backend in _ours_first(_points(BACKENDS)):
        if name == backend or name.startswith(f"{backend}-"):
            with suppress(HarnessError, UnknownName):
                if (flow := _offer(backend)[1].get(name)) is not None:
                    return flow
    return None


def library_of(flow: Flow | str) -> str:
    """Whose code computes the answers of that flow, or of the flow of that name (its environment and transforms aside): several
    backends may deploy one library. "" where nothing here offers it."""
    if isinstance(flow, str):
        offered = _offered(split_flow(flow)[0].partition("+")[0])
        if offered is None:
            return ""
        flow = offered
    try:
        backend, _ = _offer(flow.backend)
    except (HarnessError, UnknownName):
        return flow.backend
    return library_name(backend)


def with_transforms(flow: Flow, transforms: Sequence[str]) -> Flow:
    """The flow with these (`name` or `name:argument`) and named so: those that change no type before its own that do, the others after
    them. Raises as `check_flow`."""
    added = [transform for transform in transforms if transform not in flow.transforms]
    if not added:
        return check_flow(flow)
    base, environment = split_flow(flow.name)
    name = "+".join([base, *added]) + (f"{SEPARATOR}{environment}" if environment else "")
    deciding = {spec for spec, _ in _deciding(msgspec.structs.replace(flow, transforms=(*flow.transforms, *added)))}
    place = next((at for at, transform in enumerate(flow.transforms) if transform in deciding), len(flow.transforms))
    plain = [transform for transform in added if transform not in deciding] if place < len(flow.transforms) else []
    rest = [transform for transform in added if transform not in plain]
    return check_flow(
        msgspec.structs.replace(
            flow, name=name, transforms=(*flow.transforms[:place], *plain, *flow.transforms[place:], *rest)
        )
    )


def check_flow(flow: Flow) -> Flow:
    """The flow in the precision that its transforms bring. Nothing is imported but the plug-ins themselves. One that
    contradicts itself stays as it is: that is told when it is lowered, of this flow alone.

    Raises `UnknownName` with the nearest transform.
    """
    deciding = _deciding(flow)
    if len(deciding) != 1 or flow.precision != "float32" or contradiction(flow):
        return flow
    return msgspec.structs.replace(flow, precision=deciding[0][1].precision)


def contradiction(flow: Flow) -> str:
    """The sentence for transforms that contradict one another, an option of the backend, or the form of model that the
    backend reads; "" where they go together. Raises `UnknownName` as `check_flow`."""
    deciding = _deciding(flow)
    if not deciding:
        return ""
    backend: Backend = load(BACKENDS, flow.backend)()
    for spec, transform in deciding:
        if transform.accepts != backend.accepts:
            return (
                f"flow {flow.name!r}: transform {spec} rewrites {transform.accepts} models and backend {flow.backend} "
                f"reads {backend.accepts} models; choose a transform of that form"
            )
    if len(deciding) > 1:
        both = " and ".join(spec for spec, _ in deciding)
        return f"flow {flow.name!r}: transforms {both} both decide the precision; keep one of them"
    precision = flow.options.get("precision", "")
    for spec, transform in deciding:
        if precision in UNIT_ROUNDOFF and precision not in ("float32", transform.precision):
            return f"flow {flow.name!r}: option precision={precision} and transform {spec} contradict each other; keep one of them"
    return ""


def _deciding(flow: Flow) -> list[tuple[str, Transform]]:
    """Its transforms that decide the precision, as told and as they are."""
    named: list[tuple[str, Transform]] = [
        (spec, load(TRANSFORMS, spec.partition(":")[0])()) for spec in flow.transforms
    ]
    return [(spec, transform) for spec, transform in named if transform.precision]


def unknown(kind: str, name: str, known: Iterable[str]) -> Note:
    """Of a name that nothing answers to."""
    known = sorted(known)
    if ours := tuple(
        known_name for known_name in known if known_name.startswith(f"{name}-")
    ):  # the name of a library is none of its flows
        return noted(UsageCode.NO_SUCH, kind=kind, name=name, hint=noted(NameCode.KNOWN_NAMES, names=ours))
    if name in _extras():
        return noted(UsageCode.NOT_HERE, kind=kind, name=name)
    return noted(UsageCode.NO_SUCH, kind=kind, name=name, hint=name_hint(name, known))


def _offer(name: str) -> tuple[Backend, dict[str, Flow]]:
    backend_class = load(BACKENDS, name)
    try:
        backend: Backend = backend_class()
        return backend, {flow.name: flow for flow in backend.flows}
    except Exception as error:  # as for its import: a third party's code, named and raised as ours
        raise HarnessError(_broken("backend", name, _points(BACKENDS)[name], error)) from error


def _points(group: str) -> Mapping[str, metadata.EntryPoint]:
    """Ours first where two distributions claim one name: a third party must not replace a backend unseen."""
    return _group(group, tuple(sys.meta_path), tuple(sys.path))


def _ours_first(points: Mapping[str, metadata.EntryPoint]) -> list[str]:
    """By name, ours before all third parties: a flow of ours that one of them offers too stays ours."""
    return sorted(points, key=lambda name: (not _is_ours(points[name]), name))


def _is_ours(point: metadata.EntryPoint) -> bool:
    return point.dist is not None and _name_of(point.dist) == "assay"


@lru_cache(maxsize=1024)
def _name_of(distribution: metadata.Distribution) -> str:
    """Read once: its metadata are parsed whole for it, and each look at a flow asks for that of twenty backends."""
    return distribution.name


@lru_cache(maxsize=64)
def _group(group: str, finders: tuple[object, ...], path: tuple[str, ...]) -> Mapping[str, metadata.EntryPoint]:
    """Chosen once: a look at all flows asks thirty times."""
    points: dict[str, metadata.EntryPoint] = {}
    for point in _every(finders, path).select(group=group):
        if point.name not in points or _is_ours(point):
            points[point.name] = point
    return points


@lru_cache(maxsize=2)
def _every(finders: tuple[object, ...], path: tuple[str, ...]) -> Any:  # noqa: ARG001  the key
    """All entry points, read once: in a large environment reading them takes 50 ms, and a run asks thirty times."""
    return metadata.entry_points()


def _broken(kind: str, name: str, point: metadata.EntryPoint, error: Exception) -> Note:
    brought = point.dist.name if point.dist is not None else ""
    exception = type(error).__name__
    return noted(
        UsageCode.PLUGIN_BROKEN, kind=kind, name=name, distribution=brought, exception=exception, error=str(error)
    )


def _extras() -> set[str]:
    return set(metadata.metadata("assay").get_all("Provides-Extra") or [])
