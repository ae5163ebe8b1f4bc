"""Group `artifacts`: whether a submission has every part that it needs, and whether the parts agree."""

from assay_zoo.artifacts.check import check_artifacts

__all__ = ["check_artifacts"]
