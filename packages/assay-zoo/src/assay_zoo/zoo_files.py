"""Names of the files and folders of a zoo: no reader of a stranger's file imports more to know them."""

from __future__ import annotations

POLICY = "zoo.toml"
SCENARIOS = "scenarios"
SUBMISSIONS = "submissions"
MODELS = "models"
MANIFEST = "manifest.json"
INDEX = "README.md"
METADATA = "metadata.toml"
