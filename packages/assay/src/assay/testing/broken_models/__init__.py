"""Models that are wrong in one way each, made by hand: for the rules of the examination, and for whoever reads files of others."""

from assay.testing.broken_models import attribute, function, graph, operand, wrong_headers, wrong_nodes
from assay.testing.broken_models.craft import CASES, BrokenModel, built

__all__ = ["CASES", "BrokenModel", "attribute", "built", "function", "graph", "operand", "wrong_headers", "wrong_nodes"]
