"""Results and a policy in, verdicts out. Nothing here runs or reads anything."""

from assay.judge.verdicts import judge

__all__ = ["judge"]
