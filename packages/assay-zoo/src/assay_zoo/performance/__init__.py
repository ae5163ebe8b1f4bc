"""Group `performance`: what the scenario measures, against its limits and against the version that is served now."""
