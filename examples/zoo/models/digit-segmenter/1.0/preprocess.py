"""From a grey picture to what the model reads."""

import numpy as np


def preprocess(pictures: np.ndarray) -> np.ndarray:
    """(n, 64, 64) grey from 0 (black) to 255 to (n, 1, 64, 64) uint8."""
    return np.clip(np.rint(pictures), 0, 255).astype(np.uint8)[:, None]
