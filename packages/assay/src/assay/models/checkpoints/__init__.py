"""Language models that are no graph: a checkpoint folder of transformers, a GGUF file. They become an ONNX graph of their weights, which
the oracle evaluates and every ONNX engine runs; the engines that read them as they are find them by the graph."""
