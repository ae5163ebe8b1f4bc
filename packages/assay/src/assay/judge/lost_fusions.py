"""Which operators a compiler fused in the baseline's engine and not in this one: by the kernels that each of them executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from assay.core.changes import LostFusion
from assay.core.engine_info import EngineInfo, Placement

_MOVING = ("cast", "reformat")


def lost_fusion(before: EngineInfo, after: EngineInfo) -> LostFusion | None:
    """None where none is lost, or where one of the two does not tell what it executed. An engine that executes no more kernels than
    the baseline has lost none: it may fuse into larger ones. Nor has one with as many fused kernels, or whose fused kernels stand for as
    many nodes, whatever they are called. Of backends that do not mark fused kernels, an operator counts that the baseline never ran by
    itself, where both are made of as many nodes."""
    old, new = _executed(before), _executed(after)
    if not old or not new or _total(new) <= _total(old):
        return None
    alone = _more(after, before, fused=False)
    fused = _total(_kernels(before, fused=True))
    if fused:
        fewer = fused - _total(_kernels(after, fused=True))
        return LostFusion(_gone(before, after, fewer), alone) if fewer > 0 and _covers_fewer(before, after) else None
    fresh = {kind: count for kind, count in alone.items() if kind not in old}
    return LostFusion({}, fresh) if fresh and before.nodes and before.nodes == after.nodes else None


def describe_lost_fusion(lost: LostFusion) -> str:
    """`3 FusedConv became 3 Conv, 3 Relu`; `1 fused Conv became 1 Conv, 1 Relu`, of a backend whose fused kernels keep the name of their
    first operator; or `3 BatchNormalization not fused any more`."""
    alone = ", ".join(f"{count} {kind}" for kind, count in lost.alone.items())
    gone = ", ".join(f"{count} {'fused ' if kind in lost.alone else ''}{kind}" for kind, count in lost.gone.items())
    nodes = "node" if lost.count == 1 else "nodes"
    became = f"{gone} became {alone}" if gone and alone else f"{gone or alone} not fused any more"
    return f"fusion lost for {lost.count} {nodes}: {became}"


def _executed(facts: EngineInfo) -> Counter[str]:
    return _counted(placement for placement in facts.placements if placement.role not in _MOVING)


def _kernels(facts: EngineInfo, *, fused: bool) -> Counter[str]:
    """Kernels that are fused, or those that are not."""
    return _counted(
        placement
        for placement in facts.placements
        if placement.role not in _MOVING and (placement.role == "fused") == fused
    )


def _more(these: EngineInfo, those: EngineInfo, *, fused: bool) -> dict[str, int]:
    """How many more kernels the first engine executes, by operator: fused ones, or those that are not."""
    more, fewer = (_kernels(facts, fused=fused) for facts in (these, those))
    return {kind: count - fewer[kind] for kind, count in sorted(more.items()) if count > fewer[kind]}


def _gone(before: EngineInfo, after: EngineInfo, fewer: int) -> dict[str, int]:
    """The fused kernels that are gone, by name if no kernel of another name can have taken the place of one."""
    gone = _more(before, after, fused=True)
    return gone if sum(gone.values()) == fewer else {"fused kernel" if fewer == 1 else "fused kernels": fewer}


def _covers_fewer(before: EngineInfo, after: EngineInfo) -> bool:
    """Whether fewer nodes of the model are inside of kernels, as far as it is known how many it has."""
    inside = [facts.nodes - _total(_kernels(facts, fused=False)) for facts in (before, after)]
    return not (before.nodes and after.nodes) or inside[1] < inside[0]


def _counted(placements: Iterable[Placement]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for placement in placements:
        counts[placement.operator] += placement.count
    return counts


def _total(fusion_counts: Counter[str]) -> int:
    return sum(fusion_counts.values())
