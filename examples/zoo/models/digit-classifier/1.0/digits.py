"""Scikit-learn's digits, of which 450 are held out."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def held_out() -> tuple[np.ndarray, np.ndarray]:
    """Counts of ink (450, 8, 8) from 0 to 16, and labels (450,)."""
    counts, labels = load_digits(return_X_y=True)
    parts = train_test_split(counts.reshape(-1, 8, 8), labels, test_size=450, random_state=0, stratify=labels)
    return parts[1], parts[3]
