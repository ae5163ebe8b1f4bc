"""What a run is compared with: the run before, its baseline, its trend."""
