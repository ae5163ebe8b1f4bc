"""The history and the blobs."""
