"""The files of a suspect, where its worker ended before it wrote them, or while it did."""

from __future__ import annotations

from assay.fuzz.corpus import Corpus, Session, Waiting


def made_again(waiting: Waiting, corpus: Corpus, session: Session) -> bool:
    """Whether its files are there: those of one that ended its worker are made from its numbers and what the session draws from."""
    case, folder = waiting.suspect.case, corpus.suspects(waiting.flow)
    if (folder / f"{case}.onnx").exists():
        return True
    from assay.generators.files import keep_case
    from assay.generators.open_generator import open_generator

    generator = open_generator(case.generator, corpus.near_of(session), corpus.learned_of(session))
    made = generator.make(case.seed, case.index) if generator.version == case.version else None
    if made is None:
        return False
    keep_case(made, folder, case)
    return True
