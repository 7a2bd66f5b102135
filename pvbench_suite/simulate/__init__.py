"""Closed-form worlds with violation knobs, rendered to video with exact ground-truth records; the demo."""
