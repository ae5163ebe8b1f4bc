"""What makes models for `assay fuzz`, and the worker's side of it: made, evaluated, run and compared in one process."""
