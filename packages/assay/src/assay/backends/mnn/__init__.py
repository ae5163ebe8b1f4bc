"""MNN: a model converted by its own program, and run by its interpreter."""
