"""Layouts: how a folder names its videos.

Each is one `Layout`; `LAYOUTS` is the order in which ``auto`` tries them.
"""

from __future__ import annotations

from pvbench_suite.video.layouts.base import Layout
from pvbench_suite.video.layouts.listed import CSV, MANIFEST
from pvbench_suite.video.layouts.native import NATIVE
from pvbench_suite.video.layouts.numbered import INDEXED, PAI_BENCH, PHYGENBENCH, PHYGROUND, PHYWORLDBENCH
from pvbench_suite.video.layouts.physics_iq import PHYSICS_IQ
from pvbench_suite.video.layouts.plain import FRAMES, PLAIN
from pvbench_suite.video.layouts.vbench import VBENCH, VBENCH2
from pvbench_suite.video.layouts.worldscore import WORLDSCORE

#: From the most telling to the least; `plain` takes whatever is left.
LAYOUTS: tuple[Layout, ...] = (
    MANIFEST,
    NATIVE,
    CSV,
    WORLDSCORE,
    PHYGROUND,
    VBENCH2,
    PHYSICS_IQ,
    PHYGENBENCH,
    PHYWORLDBENCH,
    PAI_BENCH,
    VBENCH,
    INDEXED,
    FRAMES,
    PLAIN,
)
#: Other names that people may give.
ALIASES = {
    "pvbench": "native",
    "vbench-2.0": "vbench2",
    "evalcrafter": "indexed",
    "t2v-compbench": "indexed",
    "physicsiq": "physics-iq",
    "pai": "pai-bench",
    "stem": "plain",
}
BY_NAME = {layout.name: layout for layout in LAYOUTS}
