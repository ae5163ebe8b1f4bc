"""`assay golden refresh` as a function."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay import plugins
from assay.commands.composition import open_services
from assay.commands.data_locations import near, near_place
from assay.config.assay_toml import load_config
from assay.errors import NothingSelected, NotWritable, UsageError
from assay.options.groups import DEFAULT_CONFIG, DEFAULT_HISTORY
from assay.pipeline.goldens import refresh
from assay.pipeline.progress import SILENT, Progress

BODY, SCRIPT, OPENING = "review.md", "refresh.sh", "open.sh"


def refresh_goldens(
    folders: Sequence[Path],
    *,
    oracle: str = "",
    days: float | None = None,
    config: Path | None = None,
    history: str = "",
    change: Path | None = None,
    progress: Progress = SILENT,
) -> tuple[list[str], bool]:
    """Lines for the screen, and whether anything is stale. `folders` empty: all goldens that assay.toml names, where it is there, and all
    baselines. With `change` a text for review and scripts are written there. Raises UsageError; NothingSelected where there is neither."""
    if oracle:
        plugins.find_flow(oracle)
    file = config or (Path(DEFAULT_CONFIG) if Path(DEFAULT_CONFIG).exists() else None)
    read = load_config(file) if file else None
    if read is None and not folders and not (history or Path(DEFAULT_HISTORY).is_dir()):
        raise UsageError(
            f"no golden named, and neither assay.toml nor {DEFAULT_HISTORY} here: name a golden folder or a --history, or write assay.toml"
        )
    models = {
        Path(model.inputs.golden).resolve(): near(model.path)
        for model in (read.models if read else ())
        if model.inputs.golden
    }
    named = list(folders) or [Path(near(folder)) for folder in models]
    pairs = [(path, Path(models[path.resolve()]) if path.resolve() in models else None) for path in named]
    with open_services(
        history or (near_place(read.history) if read else DEFAULT_HISTORY), progress=progress, config=read
    ) as services:
        now = datetime.now(UTC)
        stale = refresh.stale_goldens(pairs, oracle, days, now, services)
        looked_at = len(pairs)
        if not folders:
            old, current = refresh.stale_baselines(days, now, services)
            stale, looked_at = stale + old, looked_at + current
            if not looked_at:
                no_golden = f"no model of {file} has a golden" if file else "there is no assay.toml"
                raise NothingSelected(
                    f"there is nothing to look at: {no_golden}, and {services.folder} has no baseline; "
                    "name a golden, or approve an engine with `assay baseline set`"
                )
    lines = refresh.as_lines(stale, looked_at)
    if change and stale:
        lines += _write(change, stale)
    return lines, bool(stale)


def _write(folder: Path, stale: Sequence[refresh.Stale]) -> list[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / BODY).write_text(refresh.as_review(stale), encoding="utf-8")
        scripts = {SCRIPT: refresh.as_script(stale), OPENING: refresh.as_opening(stale, str(folder / BODY))}
        for name, text in scripts.items():
            (folder / name).unlink(missing_ok=True)
            if text:
                (folder / name).write_text(text, encoding="utf-8")
                (folder / name).chmod(0o755)
    except OSError as error:
        raise NotWritable(f"{folder} cannot be written ({error.strerror}); give another with --change") from None
    then = f", then sh {folder / OPENING}" if scripts[OPENING] else ""
    return [f"for review: {folder / BODY}; to make the change{' and open it' * bool(then)}: sh {folder / SCRIPT}{then}"]
