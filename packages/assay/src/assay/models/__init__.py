"""Opening models and goldens: files in, frozen values out, bad input answered."""
