"""On which machines a command runs its jobs: those that --on names, else those of [launch] in assay.toml."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import BadPolicy
from assay.options.groups import DEFAULT_CONFIG, HERE

if TYPE_CHECKING:
    from assay.config.assay_toml import Config
    from assay.options.run import RunOptions


@dataclass(frozen=True)
class MachineAddress:
    """`text` as --on takes it, "" for this machine. `file` is the assay.toml whose [launch] says so, None for --on. `config` is
    the one that is read, whoever says it: its [launch] names the files that are sent."""

    text: str = ""
    file: Path | None = None
    config: Path = Path(DEFAULT_CONFIG)

    @property
    def words(self) -> str:
        """What a later command needs in --on: "" where ./assay.toml says it."""
        here = Path(DEFAULT_CONFIG).absolute()
        return "" if self.file and self.file.absolute() == here else self.text

    @property
    def is_slurm(self) -> bool:
        return self.text.partition("://")[0] == "slurm"


def said_address(on: str, config: Config | None = None) -> MachineAddress:
    """Without a `config` ./assay.toml is asked, where there is one. Raises BadPolicy."""
    path = config.path if config else Path(DEFAULT_CONFIG)
    text = on or (config.on if config else _configured())
    return MachineAddress() if text in ("", HERE) else MachineAddress(text, None if on else path, path)


def job_address(on: str, config: Config | None = None) -> MachineAddress:
    """For commands that share out single jobs: Slurm in [launch] is for `assay run` alone. Raises BadPolicy."""
    address = said_address(on, config)
    return MachineAddress() if address.is_slurm and not on else address


def words_for_here() -> str:
    """What a later command needs in --on to stay on this machine: "" where it does by itself."""
    with suppress(BadPolicy):  # whoever reads that file says so
        return HERE if job_address("").text else ""
    return ""


def suite_address(options: RunOptions) -> MachineAddress:
    """A part of a suite, as repro lines and shards are, is not shared out because assay.toml says so of the whole. Raises BadPolicy."""
    is_part = options.only or options.durations or options.shard not in ("", "1/1")
    return job_address(options.on) if is_part else said_address(options.on)


def sent_files(path: Path = Path(DEFAULT_CONFIG)) -> tuple[str, ...]:
    """What an assay.toml sends to nodes that share no disk. Raises BadPolicy."""
    if not _says_launch(path):
        return ()
    from assay.config.assay_toml import load_sent_files

    return load_sent_files(path)


def _configured() -> str:
    if not _says_launch(path := Path(DEFAULT_CONFIG)):
        return ""
    from assay.config.assay_toml import load_machine_address

    return load_machine_address(path)


def _says_launch(path: Path) -> bool:
    """Quick where there is nothing to read: `assay run` asks before it starts its workers."""
    try:
        if "launch" not in path.read_text(encoding="utf-8", errors="replace"):
            return False
    except OSError:
        return False
    from assay.config.toml_errors import read

    return bool(read(path).data.get("launch"))
