"""A cause that was found before, seen in another model: told at once, with what its page says, and not looked into again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.triage.cause import Cause, from_json
from assay.triage.part import Part
from assay.triage.passes import Brought, is_right


async def told_again(part: Part, number: int) -> Cause | None:
    """None for a finding, which has no page yet; where the page is gone; and where the nodes are wrong for another reason, as what cured
    them does not: the part then has no pattern any more. Raises OutOfTime."""
    if part.pattern is None or part.pattern.title:
        return None
    first = _page(Path(part.pattern.folder))
    context = part.whole.context
    brought = Brought(context.job.flow, first.cures if first is not None else ())
    if first is None or not await _is_cured(part, brought):
        part.pattern = None
        return None
    part.healing, part.origin, part.small_error = first.healing_taps, first.origin, first.small_error
    made = part.made(context.folder / f"cause-{number + 1}", brought, await part.whole_cured(brought))
    script = first.script if Path(first.script).is_file() else ""
    return replace(
        made, kernel=first.kernel, saved=first.saved, script=script, printed=first.printed, since=first.since
    )


def _page(folder: Path) -> Cause | None:
    with suppress(OSError, msgspec.MsgspecError):
        return from_json((folder / "cause.json").read_bytes(), Cause)
    return None


async def _is_cured(part: Part, brought: Brought) -> bool:
    """Whether the first cure of then is one here. Without a cure the pattern has to be of the same versions and attributes: what was kept
    of operators alone, as older releases did, may be anything."""
    if brought.cured is None:
        return part.pattern is not None and part.pattern.versions == part.whole.versions != {}
    return is_right(await part.whole.prober.ask([part.places], brought.cured, outputs=part.outputs))
