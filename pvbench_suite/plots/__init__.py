"""Drawings of measurements, as SVG text."""
