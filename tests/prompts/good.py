"""A small good suite: every rule is content with it, so that a test can break one thing at a time."""

from __future__ import annotations

import copy
from typing import Any

from pvbench_suite.prompts.schema import Group

PUCKS: dict[str, Any] = {
    "id": "s211",
    "part": "single",
    "dimensions": ["R22"],
    "prompt": (
        "On a frosty rink outdoors two identical black rubber pucks glide toward each other over clear ice. The "
        "left puck slides in fast from one side, hits the slow right puck squarely near the middle, and both "
        "separate again along straight lines. A fixed overhead camera keeps the whole stretch of ice in view from "
        "start to end."
    ),
    "first_frame": (
        "Seen straight from above, two black rubber pucks lie on clear ice, one at the left edge and one right of "
        "the middle."
    ),
    "objects": [
        {
            "name": "puck_1",
            "noun": "black rubber puck",
            "body": "rigid",
            "shape": "cylinder",
            "mass": 1,
            "size_m": 0.076,
        },
        {"name": "puck_2", "noun": "puck", "body": "rigid", "shape": "cylinder", "symmetry": "axis", "mass": 1},
    ],
    "expect": {
        "events": [
            {"event": "motion", "objects": ["puck_1", "puck_2"]},
            {"event": "collision", "objects": ["puck_1", "puck_2"]},
        ],
        "contacts": [["puck_1", "puck_2"]],
        "driven": [{"object": "puck_1", "until": "release"}],
        "light": "still",
        "camera": "still",
    },
}

BALL: dict[str, Any] = {
    "id": "s206",
    "part": "single",
    "dimensions": ["R21"],
    "prompt": (
        "In a quiet gym an orange basketball is let go above the wooden floor, drops without touching anything, "
        "bounces three times, each time lower than before, and finally comes to rest. The locked side view shows "
        "the ball and the floor below it during every bounce, with a plain wall behind."
    ),
    "first_frame": (
        "An orange basketball hangs in the air two meters above a wooden gym floor, a plain pale wall behind it."
    ),
    "objects": [
        {"name": "ball", "noun": "orange basketball", "body": "rigid", "shape": "sphere", "size_m": 0.24},
        {"name": "floor", "noun": "wooden floor", "body": "rigid", "fixed": True, "material": "wood"},
    ],
    "expect": {
        "events": [{"event": "fall", "objects": ["ball"]}],
        "contacts": [["ball", "floor"]],
        "free_flight": ["ball"],
        "light": "still",
        "camera": "still",
    },
}

LADLE: dict[str, Any] = {
    "id": "h011",
    "part": "hybrid",
    "dimensions": ["IF-03", "IF-09"],
    "tags": ["embodied"],
    "prompt": (
        "A cook in a striped apron ladles thick green soup from a dented steel pot into a small white bowl, sets "
        "the ladle down and wipes the rim with a folded blue towel. Soft golden hour light fills the narrow "
        "kitchen, the mood is calm, and the shot stays at table height throughout."
    ),
    "first_frame": (
        "A cook in a striped apron stands behind a dented steel pot and an empty white bowl in golden evening light."
    ),
    "objects": [
        {"name": "cook", "noun": "cook", "body": "articulated", "self_propelled": True},
        {"name": "pot", "noun": "dented steel pot", "body": "rigid"},
        {"name": "bowl", "noun": "white bowl", "body": "rigid"},
    ],
    "expect": {"events": [{"event": "motion", "objects": ["cook"]}], "light": "still", "camera": "still"},
    "judge_notes": {
        "IF-03": "The apron is striped, the soup green, the pot steel, the bowl white and the towel blue.",
        "IF-09": "Soft golden light and a calm mood last to the end.",
    },
}

STATUE: dict[str, Any] = {
    "id": "x001",
    "part": "supplement",
    "dimensions": ["R03", "R05"],
    "tags": ["camera_motion", "occlusion"],
    "prompt": (
        "The camera orbits slowly, a quarter turn, past a weathered stone lion that crouches on its plinth in a "
        "walled courtyard at noon. A tall clay urn close to the path hides the statue for about a second before it "
        "comes back into sight, every carved curl of the mane unchanged while new sides turn up."
    ),
    "first_frame": (
        "A weathered stone lion crouches on a plinth in a walled courtyard, with a tall clay urn at the right edge."
    ),
    "objects": [
        {"name": "lion", "noun": "stone lion", "body": "rigid", "fixed": True},
        {"name": "urn", "noun": "tall clay urn", "body": "rigid", "fixed": True},
    ],
    "expect": {
        "events": [{"event": "camera_move"}, {"event": "occlusion", "objects": ["lion"]}],
        "depth_order": [["urn", "lion"]],
        "light": "still",
        "camera": "orbit",
    },
}

GOOD = (PUCKS, BALL, LADLE, STATUE)


def changed(data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a deep copy of `data` with keys replaced; ``expect__camera`` reaches into `expect`."""
    data = copy.deepcopy(data)
    for key, value in changes.items():
        *path, last = key.split("__")
        target = data
        for part in path:
            target = target[part]
        target[last] = value
    return data


def groups(*replaced: dict[str, Any]) -> tuple[Group, ...]:
    """Return the good suite with the groups of equal id replaced, and the others added at the end."""
    by_id = {data["id"]: data for data in (*GOOD, *replaced)}
    return tuple(Group.model_validate(data) for data in by_id.values())
