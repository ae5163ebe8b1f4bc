"""OpenVINO: compiled models, and next to them the pipeline of language models."""
