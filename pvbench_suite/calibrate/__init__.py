"""Calibration: how each numeric dimension answers to a known fault at a known noise of perception."""
