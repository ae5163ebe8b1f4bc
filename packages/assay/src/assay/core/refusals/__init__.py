"""The codes of what rooms that run in a worker refuse. `assay.judge.refusals` makes the sentences."""
