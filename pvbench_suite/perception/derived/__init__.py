"""The `derived` profile: bodies, contacts, order of depth and shading made from masks, depth, cameras and tracks.

The lower products are the ground truth of rendered videos, so that what is derived can be held against the truth.  A
profile of learned models takes the same providers and puts its own masks, depth, cameras and tracks below them.
"""

from __future__ import annotations

from pvbench_suite.perception.derived.bodies import SurfaceBodies
from pvbench_suite.perception.derived.contacts import GapContacts
from pvbench_suite.perception.derived.ordering import DropOutOrdering
from pvbench_suite.perception.derived.shading import PictureShading
from pvbench_suite.perception.protocol import Profile, Provider
from pvbench_suite.perception.simulator import REMEDY, Truth

#: What is read and not derived.
GIVEN = ("masks", "depth", "cameras", "tracks", "normals", "flow", "interpolation")

#: What the demo proves: its violating clips score below its lawful ones.  Not R19, whose two sources are one here.
CLAIMS = frozenset(
    {
        *("R01", "R11", "R15", "R16", "R20", "R21", "R22", "R23", "R24"),
        *("R02", "R03", "R05", "R08", "R17", "R18", "PTQ-03", "PTQ-04"),
    }
)

_DERIVED: tuple[Provider, ...] = (SurfaceBodies(), GapContacts(), DropOutOrdering(), PictureShading())
_GIVEN: tuple[Provider, ...] = tuple(Truth(product) for product in GIVEN)

PROFILE = Profile(
    name="derived",
    providers={provider.product: provider for provider in (*_GIVEN, *_DERIVED)},
    claims=CLAIMS,
    limits="ground truth of rendered videos; bodies, contacts, ordering and shading derived",
    remedy=REMEDY,
)
