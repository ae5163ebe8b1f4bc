"""The files of a suspect, where its worker ended before it wrote them, or while it did."""

from __future__ import annotations

from assay.fuzz.corpus import Corpus, Session, Waiting
from assay.fuzz.own_process import make_again


def made_again(waiting: Waiting, corpus: Corpus, session: Session) -> bool:
    """Whether its files are there: those of one that ended its worker are made from its numbers and what the session draws from."""
    case, folder = waiting.suspect.case, corpus.suspects(waiting.flow)
    if (folder / f"{case}.onnx").exists():
        return True
    return make_again(case, corpus.near_of(session), corpus.learned_of(session), folder.absolute())
