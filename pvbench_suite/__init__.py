"""PVBench suite: scores a folder of generated videos along 46 dimensions, physics included."""

__version__ = "0.1.0"

__all__ = ["__version__"]
