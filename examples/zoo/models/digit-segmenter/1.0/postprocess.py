"""From logits to a mask."""

import numpy as np


def postprocess(logits: np.ndarray) -> np.ndarray:
    """(n, 11, 16, 16) logits to (n, 16, 16): -1 for background, else the digit."""
    return logits.argmax(axis=1) - 1
