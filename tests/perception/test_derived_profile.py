"""The `derived` profile end to end: the dimensions' own tests on filmed worlds of the demo, lawful and violating."""

from __future__ import annotations

import importlib.util
import inspect
import json
from importlib.resources import files
from typing import Any

import pytest

from pvbench_suite import suite
from pvbench_suite.dimensions import load
from pvbench_suite.errors import NotPerceived, Unmeasurable
from pvbench_suite.perception import profiles, simulator
from pvbench_suite.perception.cache import identity
from pvbench_suite.prompts.brief import Brief
from pvbench_suite.prompts.schema import Group
from pvbench_suite.scoring import grade as scored
from pvbench_suite.simulate.demo import DEMO_TARGETS, SCENES, lab_of
from tests.perception.derived_worlds import FULL, SMALL, Derived, derived

#: The groups whose dimension reads what is derived, and the size of their clips: balls are known in small ones.
GROUPS = {
    **dict.fromkeys(("d001", "d002", "d003", "d004", "d008", "d018"), SMALL),
    **dict.fromkeys(("d005", "d007", "d009", "d011", "d014", "d015", "d022"), FULL),
}


@pytest.fixture(autouse=True)
def marker(pytestconfig: pytest.Config) -> None:
    """Make the plugin's marker known, since the suite's own tests run without the plugin."""
    pytestconfig.addinivalue_line("markers", "dimension(id): the dimension that a test measures")


def value(group: str, dimension: str, made: Derived) -> float:
    """Return the value that the dimension's own test hands in."""
    (path,) = (suite.root() / "dimensions").glob(f"*/test_{dimension.lower()}_*.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    products = {**made.read, "bodies": made.bodies, "contacts": made.contacts, "ordering": made.ordering}
    taken: list[Any] = []
    lines = files("pvbench_suite.simulate").joinpath("demo_groups.jsonl").read_text(encoding="utf-8").splitlines()
    said = next(g for g in map(json.loads, lines) if g["id"] == group)
    given = {
        **products, "brief": Brief(Group.model_validate(said)), "optional": products.get, "grade": taken.append,
        "judged": lambda _: None,
    }  # fmt: skip
    test = getattr(module, path.stem)
    test(**{name: given[name] for name in inspect.signature(test).parameters})
    return float(taken[0].value)


def score(group: str, dimension: str, made: Derived) -> int:
    """Return the score of a clip of a group."""
    said = load().get(dimension)
    return scored(value(group, dimension, made), said.cuts, said.direction)


def outcome(group: str, dimension: str, made: Derived) -> int | str:
    """Return the score of a clip of a group, or the reason why there is none."""
    try:
        return score(group, dimension, made)
    except Unmeasurable as error:
        return error.reason


@pytest.mark.parametrize("group", GROUPS)
def test_lawful_clips_score_and_violating_ones_lose(group: str) -> None:
    """Lawful 4 or 5, the violating twin at most 2, without noise; the same dimension for both."""
    scene, (dimension,) = SCENES[group], DEMO_TARGETS[group]
    found = []
    for violation in ("", scene.violation):
        take = lab_of(group, "t2v", not violation).seed
        made = derived(scene.world, violation, hw=GROUPS[group], seconds=scene.seconds, dose=scene.dose, take=take)
        found.append(score(group, dimension, made))
    assert found[0] >= 4
    assert found[1] <= 2


@pytest.mark.parametrize("group", ["d001", "d002", "d004", "d005"])
def test_noise_of_the_depth_costs_a_lawful_clip_little(group: str) -> None:
    """At 1 % depth noise a lawful clip keeps 4 or 5, or is not measured for its noise; it never fails."""
    scene, (dimension,) = SCENES[group], DEMO_TARGETS[group]
    for seed in (0, 1):
        found = outcome(group, dimension, derived(scene.world, hw=GROUPS[group], seconds=scene.seconds, seed=seed))
        assert found in (5, 4, "too_noisy", "weak_collision")


def test_what_is_given_is_the_simulators_truth_under_its_own_key() -> None:
    """The truth that a rendered clip has is found by both profiles; what is derived is another provider's."""
    profile = profiles.load("derived")
    for product, provider in profile.providers.items():
        same = identity(profile, product) == identity(simulator.PROFILE, product)
        assert same == isinstance(provider, simulator.Truth)
    assert {"bodies", "contacts", "ordering", "shading"} <= {
        p for p, v in profile.providers.items() if not isinstance(v, simulator.Truth)
    }


def test_every_claim_has_its_products_and_the_rest_says_where_truth_comes_from() -> None:
    """Each claimed dimension's needs are made; a clip without truth is not perceived, with the remedy."""
    profile = profiles.load("derived")
    assert profile.claims is not None
    for name in profile.claims:
        assert set(load().get(name).needs) <= set(profile.providers)
    with pytest.raises(NotPerceived, match="pvbench demo"):
        profile.providers["masks"](None, {})
