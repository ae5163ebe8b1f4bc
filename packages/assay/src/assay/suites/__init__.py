"""Suites: named, seeded generators of cases. Implement `assay.ports.Suite`, found by the group `assay.suites`."""
