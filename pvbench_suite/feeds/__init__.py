"""What the kernels are fed: perception records turned into the arrays that a kernel's signature names.

No physics here and no perception: only choosing, cutting and bringing into one frame of reference.  World axes,
units and NaN for
missing are those of `pvbench_suite.perception.types`.
"""
