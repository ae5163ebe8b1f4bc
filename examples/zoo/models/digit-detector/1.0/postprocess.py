"""From candidates to digits that were found."""

import numpy as np

THRESHOLD = 0.3


def postprocess(
    boxes: np.ndarray, scores: np.ndarray, classes: np.ndarray
) -> list[list[tuple[int, float, list[float]]]]:
    """For each picture (digit, score, box), the surest first."""
    found = []
    for box, score, kind in zip(boxes, scores, classes, strict=True):
        order = [at for at in np.argsort(-score) if score[at] >= THRESHOLD]
        found.append([(int(kind[at]), float(score[at]), box[at].tolist()) for at in order])
    return found
