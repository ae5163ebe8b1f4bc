"""Group `compliance`: the model against the ONNX specification and the bounds of the zoo."""
