"""Inputs and expected outputs as people have them, read into samples of a model. For worker processes: it reads what others
wrote, and calls functions that the user names."""

from assay.models.own_data.read import OwnData, read_data

__all__ = ["OwnData", "read_data"]
