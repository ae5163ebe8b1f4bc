"""What makes cases without end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from assay.core.screening import Use
from assay.ports.values import Tensor


@dataclass(frozen=True)
class GeneratedCase:
    """A model in one file's bytes, and what it is fed. `others` are inputs of other sizes for the same model, where its inputs have
    symbolic dimensions; those that no node takes are left out when they are evaluated. `uses`: what is done with the engine besides."""

    model: bytes
    inputs: Mapping[str, Tensor]
    others: tuple[Mapping[str, Tensor], ...] = ()
    uses: tuple[Use, ...] = ()


class Generator(Protocol):
    """A plug-in of the group `assay.generators`, instantiated without arguments. Conformance: `assay.testing.check_generator`."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """Raised when any case changes: a case is named by generator, version, seed and index."""
        ...

    @property
    def about(self) -> str:
        """One line: what is in it."""
        ...

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """The case of that seed and index, byte for byte the same on every machine, whatever was made before. None where these
        numbers lead to no valid model: cheap, and not a failure. No backend is imported."""
        ...


@runtime_checkable
class NearModels(Protocol):
    """A generator whose cases can come near to the models of a user (`assay fuzz --near`)."""

    def near(self, patterns: Path) -> Generator:
        """The same generator on the patterns of that file, which `assay.generators.mined` wrote. A case is then named by the digest of
        the file, too."""
        ...


@runtime_checkable
class LearnsPairs(Protocol):
    """A generator that draws from pairs of operators which a backend was seen to compile together (`assay fuzz --learn`)."""

    def beside(self, pairs: Path) -> Generator:
        """The same generator with the pairs of that file, by their first operator. A case is then named by the digest of the file, too."""
        ...
