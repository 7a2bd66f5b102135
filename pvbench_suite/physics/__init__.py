"""Kernels of the numeric physical dimensions: arrays in, `Measurement` out; numpy and SciPy only."""
