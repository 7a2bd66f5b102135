"""Aggregation, uncertainty, comparison and gates: rows in, records out; no file is read or written here."""
