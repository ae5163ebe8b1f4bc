"""A generator by its name, near to models where there are some."""

from __future__ import annotations

from pathlib import Path

from assay import plugins
from assay.ports.generator import Generator, NearModels


def open_generator(name: str, near: str = "") -> Generator:
    """`near` is a file of patterns ("": none); generators that know no models are what they are without."""
    found: Generator = plugins.load("assay.generators", name)()
    return found.near(Path(near)) if near and isinstance(found, NearModels) else found
