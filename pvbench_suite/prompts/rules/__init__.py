"""The rules that prompt groups have to hold, by concern: counts, structure, text, targets."""
