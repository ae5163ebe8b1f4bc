"""From counts of ink to what the model reads."""

import numpy as np


def preprocess(counts: np.ndarray) -> np.ndarray:
    """(n, 8, 8) counts from 0 to 16 to (n, 1, 8, 8) float32 from 0 to 1."""
    return (counts[:, None] / 16).astype(np.float32)
