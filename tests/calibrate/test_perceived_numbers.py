"""Counting and pooling: shares, quantiles and their intervals, and the claims of a calibration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pvbench_suite.calibrate.perceived.metrics import METRICS, values
from pvbench_suite.calibrate.perceived.page import claims
from pvbench_suite.calibrate.perceived.tally import KEPT, Pool, Tally, sketch
from pvbench_suite.calibrate.rendered import SCENES
from pvbench_suite.errors import UserError
from pvbench_suite.perception import profiles


def clip(hits: int, of: int, errors: np.ndarray | list[float]) -> dict[str, Any]:
    """Return the counts of one clip."""
    tally = Tally()
    tally.add("masks.recall", hits, of)
    tally.sample("bodies.centre_px", errors)
    return tally.content()


def test_a_share_is_the_sum_over_the_sum() -> None:
    """Long clips weigh more; a clip that counted nothing weighs nothing."""
    found = values([clip(1, 1, []), clip(0, 3, []), clip(0, 0, [])])["masks.recall"]
    assert found["value"] == pytest.approx(0.25)
    assert (found["n"], found["clips"]) == (4, 2)
    assert 0.0 <= found["low"] <= 0.25 <= found["high"] <= 1.0


def test_what_was_never_counted_is_null_and_what_nobody_asked_for_is_absent() -> None:
    """No NaN: a share of nothing has no value."""
    found = values([clip(0, 0, [])])
    assert found["masks.recall"]["value"] is None
    assert found["bodies.centre_px_median"] == {"value": None, "low": None, "high": None, "n": 0, "clips": 0}
    assert "flow.moving_px_median" not in found
    json.dumps(found, allow_nan=False)


def test_pooled_quantiles_are_those_of_all_members() -> None:
    """Sketches of unlike sizes pool to the quantiles of the union, within a hundredth of rank."""
    rng = np.random.default_rng(3)
    parts = [rng.exponential(2.0, n) for n in (5000, 40, 900)]
    whole = np.sort(np.concatenate(parts))
    pool = Pool.of([sketch(p) for p in parts])
    assert len(sketch(parts[0])["q"]) == KEPT
    for p in (0.05, 0.5, 0.95):
        rank = np.searchsorted(whole, pool.quantile(p)) / len(whole)
        assert rank == pytest.approx(p, abs=0.01)


def test_intervals_are_the_same_for_any_order_of_sums_and_for_every_call() -> None:
    """The bootstrap is seeded by its content."""
    clips = [clip(k, 9, [0.1 * k, 0.2 * k]) for k in range(6)]
    first, again = values(clips), values(clips)
    assert first == again
    assert values(clips[::-1])["masks.recall"] == first["masks.recall"]
    spread = first["bodies.centre_px_median"]
    assert spread["low"] <= spread["value"] <= spread["high"]


def test_infinite_and_missing_errors_are_not_kept() -> None:
    """A place that is not given is no error of a place."""
    assert clip(0, 0, [np.nan, 1.0, np.inf])["samples"]["bodies.centre_px"] == {"n": 1, "q": [1.0]}


def test_names_of_numbers_are_unique_and_have_a_product() -> None:
    """Each metric is found under one name."""
    assert len({m.name for m in METRICS}) == len(METRICS)
    assert {m.product for m in METRICS} <= {
        *("masks", "bodies", "tracks", "flow", "contacts", "cameras", "depth", "frames", "clips")
    }


def test_the_embedded_profile_claims_only_what_has_a_rendered_scene() -> None:
    """A claim without a scene could not be borne out."""
    claimed = profiles.load("embedded").claims
    assert claimed
    assert claimed <= {scene.dimension for scene in SCENES}


def row(auc: float | None, profile: str = "embedded", dimension: str = "R16") -> dict[str, Any]:
    """Return a row of a calibration."""
    ends = {"auc": [0.8, 1.0]} if auc is not None else {}
    head = {"dimension": dimension, "name": f"{dimension}_x", "violation": "jump", "profile": profile}
    return {**head, "auc": auc, "interval": ends}


def test_claims_are_met_from_nine_tenths_on(tmp_path: Path) -> None:
    """Only the profile's own rows count; a row without an AUC is neither met nor not."""
    path = tmp_path / "calibration.json"
    rows = [row(0.9), row(0.899), row(None), row(1.0, "simulator"), row(1.0, dimension="R22")]
    path.write_text(json.dumps({"rows": rows}))
    found = claims(path, profiles.load("embedded"))
    assert [c["met"] for c in found] == [True, False, None, True]
    assert [c["claimed"] for c in found] == [True, True, True, False]
    assert (found[0]["low"], found[0]["high"]) == (0.8, 1.0)


@pytest.mark.parametrize("content", ["", "[]", '{"rows": [{}]}', '{"rows": []}', json.dumps({"rows": [row(1, "x")]})])
def test_a_file_that_is_no_calibration_is_one_line(tmp_path: Path, content: str) -> None:
    """The message names option and file."""
    path = tmp_path / "c.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"--physics .*c\.json"):
        claims(path, profiles.load("embedded"))
