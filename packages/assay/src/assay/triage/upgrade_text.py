"""The words for an upgrade."""

from __future__ import annotations

from collections.abc import Iterator

from assay.triage.speed import Speed
from assay.triage.triage_text import lines as cause_lines
from assay.triage.triage_text import title_of
from assay.triage.upgrade import MEMORY, Answers, ModelChange, Upgrade

_ANSWERS = {
    Answers.SAME: "same answers",
    Answers.NEARER: "nearer to float64",
    Answers.FARTHER: "farther from float64, within its tolerance",
    Answers.WRONG: "WRONG now, right before",
    Answers.RIGHT_AGAIN: "right now, wrong before",
    Answers.WRONG_BOTH: "wrong in both",
    Answers.NEWLY_SUPPORTED: "newly supported",
    Answers.NEWLY_REFUSED: "REFUSED now, supported before",
    Answers.REFUSED_BOTH: "refused by both",
    Answers.UNREADABLE: "CANNOT BE READ",
    Answers.UNKNOWN: "not known",
}


_SLOWER = {
    "speed.wall_slowdown_percent": " on the wall clock",
    "speed.load_slowdown_percent": " to load",
}
"""Of a model whose calls are as fast."""


def lines(upgrade: Upgrade) -> Iterator[str]:
    """A line for each model, the causes, and last the one line that a bot reads."""
    width = max((len(model.model) for model in upgrade.models), default=0)
    for model in upgrade.models:
        yield f"{model.model:<{width}}  {model_text(model)}"
    for cause in upgrade.causes:
        yield from cause_lines(cause)
        yield f"  page: {cause.folder}/cause.html"
    yield verdict(upgrade)


def model_text(model_change: ModelChange) -> str:
    """What the new release does to a model, in one line."""
    return ", ".join(_parts(model_change))


def _parts(model_change: ModelChange) -> Iterator[str]:
    errors = ""
    if model_change.old_error is not None and model_change.new_error is not None:
        errors = f" (relative error {model_change.old_error:.2g}, now {model_change.new_error:.2g})"
    yield f"{_ANSWERS[model_change.answers]}{errors}{f': {model_change.detail[:160]}' if model_change.detail else ''}"
    if model_change.ratio is not None:
        yield _speed(model_change)
    if model_change.memory is not None and model_change.memory > MEMORY:
        yield f"{100 * (model_change.memory - 1):.0f} % more memory"


def _speed(model_change: ModelChange) -> str:
    """What the speed gate decided."""
    times = f"{model_change.ratio:.2f} times as long"
    match model_change.speed:
        case Speed.SAME:
            return f"as fast ({times})"
        case Speed.FASTER:
            return f"faster ({times})"
        case Speed.SLOWER if model_change.lost is not None:
            what, lost = _SLOWER.get(model_change.lost.metric, ""), model_change.lost
            return f"SLOWER{what} by {lost.percent:.3g} % ({lost.allowed:g} % are allowed)"
        case Speed.SLOWER:
            return f"SLOWER ({times})"
    return f"speed not decided ({times} so far)"


def verdict(upgrade: Upgrade) -> str:
    """For a bot: the way, and why."""
    head = f"upgrade {upgrade.backend} {upgrade.old} -> {upgrade.new}: {upgrade.way}"
    if upgrade.way == "go":
        bad = [model.model for model in upgrade.models if model.answers in (Answers.WRONG_BOTH, Answers.REFUSED_BOTH)]
        neither = (
            f"; {', '.join(bad)} {'is' if len(bad) == 1 else 'are'} wrong or refused in both releases" if bad else ""
        )
        count = len(upgrade.models)
        return f"{head}: {'the model is' if count == 1 else f'all {count} models are'} as good as before{neither}"
    if upgrade.way == "go with options":
        return f"{head}: " + " ".join(f"--option {name}={value}" for name, value in upgrade.options.items())
    why = [f"{stop.model} {_short(stop)}" for stop in upgrade.stops]
    titles = [title_of(cause) for cause in upgrade.causes]
    return f"{head}: {'; '.join([*why, *titles])}"


def _short(model_change: ModelChange) -> str:
    bad = model_change.answers in (Answers.WRONG, Answers.NEWLY_REFUSED, Answers.UNREADABLE, Answers.UNKNOWN)
    return _ANSWERS[model_change.answers].lower() if bad else f"is {_speed(model_change).lower()}"
