"""What the help says of reports is what there is."""

from __future__ import annotations

import re
from importlib.metadata import entry_points

from assay.commands.reporting import GROUP
from assay.options.groups import REPORTS


def test_the_help_names_every_report_of_ours() -> None:
    ours = {point.name for point in entry_points(group=GROUP) if point.value.startswith("assay.")}
    assert ours == set(re.findall(r"[a-z-]+", REPORTS)) - {"of", "suites"}
