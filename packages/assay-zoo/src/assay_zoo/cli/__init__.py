"""The command `assay zoo`."""
