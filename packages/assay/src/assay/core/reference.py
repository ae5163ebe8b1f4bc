"""Whose answers an engine's were compared with, and who else was asked."""

from __future__ import annotations

import enum

import msgspec

from assay.core.screening import Unspecified


class ReferenceKind(enum.StrEnum):
    """Where reference answers come from. `oracle`: an evaluator or another engine computed them for this run. `golden`: a folder
    that the user gave. `given`: a user's answers for an original whose file is there, too, so that others can be asked.
    `definition`: they are right by definition, as those of a published conformance case, or of torch's
    eager mode for a program that torch exported. `none`: nothing was compared with anybody else's answers."""

    NONE = "none"
    ORACLE = "oracle"
    GOLDEN = "golden"
    GIVEN = "given"
    DEFINITION = "definition"


class Reference(msgspec.Struct, frozen=True):
    """`producer` is the flow that computed the answers, `library` whose code it runs ("" where no flow here has that name),
    `engine` the library of the flow under test. `own_inputs`: they are a user's, not drawn."""

    kind: ReferenceKind = ReferenceKind.NONE
    producer: str = ""
    version: str = ""
    library: str = ""
    engine: str = ""
    own_inputs: bool = False

    @property
    def independent(self) -> bool:
        """Whether another library than that of the flow under test computed the answers: an engine is no witness of its own."""
        return not self.library or self.library != self.engine


class Witness(msgspec.Struct, frozen=True):
    """A third engine on the same model and inputs. None: that question was not asked, or it had no answer to it (`detail` says
    why; `install` is the command where only a library is missing). `node` is where it and the reference part first. Of a change it
    says whether its own answers to the two models differ, as the reference's do, or are alike (`agrees_with_engine`). Of inputs that
    the engine refuses it says whether it takes them. `reading` is what the standard does not say, where it is
    the oracle by the other reading."""

    flow: str
    library: str
    version: str = ""
    agrees_with_reference: bool | None = None
    agrees_with_engine: bool | None = None
    node: str = ""
    detail: str = ""
    install: str = ""
    takes_inputs: bool | None = None
    reading: tuple[Unspecified, ...] = ()
