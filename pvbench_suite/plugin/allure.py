"""What allure-pytest shows of a pair: labels, the score in the title, measured values as excluded parameters.

allure-pytest ignores pytest's user properties, so they are said again here.  Everything is inert without
``--alluredir``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pvbench_suite.dimensions import LAYER_NAMES, Dimension, Domain
from pvbench_suite.results import Row
from pvbench_suite.wording import SEVERITIES, title


def folder(config: pytest.Config) -> Path | None:
    """Return the folder of ``--alluredir``, or None."""
    text = config.getoption("allure_report_dir", None)
    return Path(text) if text else None


def mark(item: pytest.Item, dimension: Dimension, domain: Domain) -> None:
    """Label a pair: epic = layer, feature = domain, story = dimension, and its severity."""
    if folder(item.config) is None:
        return
    labels = {
        "epic": f"{domain.layer} {LAYER_NAMES[domain.layer]}",
        "feature": f"{domain.code} {domain.name}",
        "story": f"{dimension.id} {dimension.name}",
        "severity": SEVERITIES[domain.layer],
    }
    for kind, value in labels.items():
        item.add_marker(pytest.mark.allure_label(value, label_type=kind))


def show(item: pytest.Item, row: Row, dimension: Dimension) -> None:
    """Put the score into view; measured values never enter the history id."""
    if folder(item.config) is None:
        return
    import allure

    allure.dynamic.title(title(row, dimension.name))  # type: ignore[no-untyped-call]
    for key in ("score", "value", "unit", "n", "reason", "scorer", "profile"):
        if row[key] not in (None, ""):
            allure.dynamic.parameter(key, row[key], excluded=True)
