"""Models that are wrong in one way each, and where the fault is, in the order of the parts. Built here, so that each is seen."""

import crafted_attribute  # noqa: F401 - each of these enters its cases into the table
import crafted_function  # noqa: F401
import crafted_graph  # noqa: F401
import crafted_model  # noqa: F401
import crafted_node  # noqa: F401
from crafting import CASES, built

__all__ = ["CASES", "built"]
