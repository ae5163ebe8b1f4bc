"""ExecuTorch: a program for its portable kernels or a delegate, lowered and run by one runtime."""
