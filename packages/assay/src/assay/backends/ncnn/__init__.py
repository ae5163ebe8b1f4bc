"""ncnn: a model converted by its own program, and run on the CPU."""
