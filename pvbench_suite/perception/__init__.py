"""Perception: records, providers, profiles, and the read-through cache between them."""
