"""The `embedded` profile: CPU, no weights, planar motion before a camera that stands still or only turns."""

from __future__ import annotations

from pvbench_suite.perception.embedded.bodies import PlanarBodies
from pvbench_suite.perception.embedded.contacts import PlanarContacts
from pvbench_suite.perception.embedded.flow import DisFlow
from pvbench_suite.perception.embedded.interpolation import FlowInterpolation
from pvbench_suite.perception.embedded.masks import MovingMasks
from pvbench_suite.perception.embedded.tracks import KltTracks
from pvbench_suite.perception.protocol import Profile, Provider

_PROVIDERS: tuple[Provider, ...] = (
    DisFlow(), MovingMasks(), KltTracks(), PlanarBodies(), PlanarContacts(), FlowInterpolation(),
)  # fmt: skip

PROFILE = Profile(
    name="embedded",
    providers={provider.product: provider for provider in _PROVIDERS},
    claims=frozenset({"R15", "R16", "R17", "R21", "PTQ-03", "PTQ-04"}),
    limits="planar motion, camera still or turning without parallax, no weights",
    assumed=("planar",),
    remedy="choose a profile with depth: --pv-perception simulator for rendered clips",
)
