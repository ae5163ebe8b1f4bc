"""llama.cpp: a GGUF file that continues prompts."""
