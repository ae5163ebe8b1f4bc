"""TensorRT 8.6, 10.x and 11.x: one backend on what their Python interfaces share, one file each where they differ.

Nothing here imports tensorrt before `prepare`, and that only after a process of its own has survived it (`probe`).
"""
