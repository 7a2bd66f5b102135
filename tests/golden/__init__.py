"""Golden vectors: closed-form cases that every numeric kernel must answer.

``python -m tests.golden DIR`` runs a folder of them; ``tests/test_golden.py`` runs those beside the checkout.  A file
is ``{dimension, fn, cases: [{id, kwargs, expect: {value, tol} | {reason}, closed_form}]}``; see `tests.golden.mapping`
for how the names of the vectors meet ours.
"""
