"""What is to be read of own data: `--golden`, `--inputs`, `--image`, `--state`, and the keys of assay.toml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.core.data import Data, Picture
from assay.errors import UsageError
from assay.models.golden_checks import FILES, LOCK
from assay.models.own_data.functions import is_function


def is_data(source: str) -> bool:
    """Whether it is there and no golden folder: a function, a file, or a folder without a lock and without a golden's files."""
    path = Path(source)
    if is_function(source):
        return True
    if not path.is_dir():
        return path.is_file()
    return not any((path / name).exists() for name in (LOCK, *FILES.values()))


def data_of(
    golden: str,
    inputs: str,
    *,
    state: Mapping[str, str],
    image: Picture | None,
    tokenizer: str = "",
    most: int = 0,
) -> Data | None:
    """What is to be read before anything runs; None where a golden folder serves as it is, or nothing was given. Raises
    UsageError for options that say nothing of what was given."""
    if golden and inputs:
        raise UsageError(f"--golden {golden} and --inputs {inputs} both bring inputs; give one of them")
    if not golden and not inputs:
        if image or state or tokenizer:
            raise UsageError(
                "--image, --state and --tokenizer say how given data are read, and none are given: add --inputs or --golden"
            )
        return None
    if golden and not is_data(golden) and not state:
        return None
    return Data(golden or inputs, bool(golden), image, dict(state), most, tokenizer)
