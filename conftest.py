"""Root conftest: loads the suite's plugin and the fixtures that dimension tests ask for by name."""

pytest_plugins = ["pvbench_suite.plugin", "fixtures.perception", "fixtures.judge", "fixtures.grade"]
