"""The prompt suite: schema, loader, validator, variety report, export, and the groups themselves.

Start with `pvbench_suite.prompts.loader.load`.  Rules stand in `pvbench_suite.prompts.rules`, one function each.
"""
