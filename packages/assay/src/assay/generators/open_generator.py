"""A generator by its name, near to models where there are some."""

from __future__ import annotations

from pathlib import Path

from assay import plugins
from assay.ports.generator import Generator, LearnsPairs, NearModels


def open_generator(name: str, near: str = "", learned: str = "") -> Generator:
    """`near` is a file of patterns, `learned` one of pairs ("": none); generators that know no models, or draw from no pairs, are what
    they are without."""
    generator: Generator = plugins.load("assay.generators", name)()
    if learned and isinstance(generator, LearnsPairs):
        generator = generator.beside(Path(learned))
    return generator.near(Path(near)) if near and isinstance(generator, NearModels) else generator
