"""Tests of pvbench_suite.prompts."""
