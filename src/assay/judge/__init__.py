"""Results and a policy in, verdicts out. Nothing here runs or reads anything."""
