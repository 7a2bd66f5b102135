"""Kernels of the perceptual dimensions (L2): arrays in, `Measurement` out; numpy and SciPy only."""
