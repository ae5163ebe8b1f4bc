"""All that Assay knows of each ONNX operator: one record for each, in one file for it or for a family of operators that are alike.

A file of this room lists its records as `OPERATORS`, and needs to be named nowhere else: `index` finds it. To add an operator, write
one file: `grid_sample.py` is an example. `record.OnnxOperator` says what a record may state.
"""
