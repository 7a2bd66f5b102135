"""Schema of one prompt group: what a generator is asked for, and what follows from it in machine-readable form.

Conventions
-----------
Ids of groups and names of objects are ``[A-Za-z0-9_.-]``, 1 to 80 characters, without a leading dot, so that they
are safe as file names and as pytest ids.  Lengths are in meters [m], speeds in [m/s], masses in any unit common to the
group.  Everything is frozen; unknown keys are errors.  What `Expect` leaves out is *not stated*, never assumed:
`light` and `camera` are None then.

In the shipped suite every field is filled, which `pvbench_suite.prompts.validate` holds; a user's own suite needs
only `id` and `prompt`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from pvbench_suite.prompts.catalogue import dimension_ids, nearest_dimension

ID_PATTERN = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,79}$"
SYMMETRY_PATTERN = r"^(none|axis|sphere|n-fold|([2-9]|[1-9][0-9])-fold)$"

EventName = Literal["motion", "fall", "collision", "rotation", "occlusion", "deformation", "camera_move", "light_move"]
Body = Literal["rigid", "articulated", "soft", "cloth", "granular", "fluid", "gas"]
Shape = Literal["sphere", "box", "cylinder", "other"]
Camera = Literal["still", "pan", "tilt", "dolly", "orbit", "handheld", "follow"]
Light = Literal["still", "moves"]
Tag = Literal["embodied", "occlusion", "clutter", "camera_motion"]
Part = Literal["single", "hybrid", "supplement", "custom"]

TAGS: tuple[str, ...] = get_args(Tag)
EVENTS: tuple[str, ...] = get_args(EventName)

#: Which stated event makes the absence of which dimension's event count (`event_absent`, spec ``prompts.md``).
DEMANDS: dict[str, frozenset[str]] = {
    "motion": frozenset({"R16", "R17", "R19"}),
    "fall": frozenset({"R21", "R23"}),
    "collision": frozenset({"R22", "R24", "R23"}),
    "rotation": frozenset({"R20", "R07", "R03", "R18"}),
    "occlusion": frozenset({"R15"}),
    "deformation": frozenset({"R11"}),
    "camera_move": frozenset({"R05", "R03"}),
    "light_move": frozenset({"R08"}),
}

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _clean(text: str) -> str:
    """Return `text` unchanged; refuse what would be blank or would disturb a terminal, a log line or a page."""
    if not text.strip():
        raise ValueError("is blank")
    if found := _CONTROL.search(text):
        raise ValueError(f"holds the control character U+{ord(found[0]):04X}; remove it")
    return text


def _known_dimension(text: str) -> str:
    """Return `text` if it is one of the 46 ids."""
    if text not in dimension_ids():
        raise ValueError(f"{text!r} is no dimension (nearest: {nearest_dimension(text)})")
    return text


def _repeated(items: Iterable[str]) -> str | None:
    """Return the first item that occurs twice, or None."""
    seen: set[str] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def _distinct(items: tuple[str, ...]) -> tuple[str, ...]:
    """Return `items` if none is listed twice."""
    if (twice := _repeated(items)) is not None:
        raise ValueError(f"{twice!r} is listed twice")
    return items


def _two_different(pair: tuple[str, str]) -> tuple[str, str]:
    """Return `pair` if it names two objects."""
    if pair[0] == pair[1]:
        raise ValueError(f"{pair[0]!r} stands on both sides")
    return pair


class _DimensionSchema:
    """Puts the 46 ids into the JSON schema when it is asked for, so that importing this module reads no tables."""

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "enum": list(dimension_ids())}


Id = Annotated[str, Field(pattern=ID_PATTERN)]
Text = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(_clean)]
Phrase = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_clean)]
DimensionId = Annotated[str, AfterValidator(_known_dimension), _DimensionSchema()]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Pair = Annotated[tuple[Id, Id], AfterValidator(_two_different)]


class _Frozen(BaseModel):
    """Base of the models: immutable, no unknown keys, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Object(_Frozen):
    """One instance in the scene; `name` is unique in the group, `noun` is the phrase for segmentation by text."""

    name: Id
    noun: Phrase
    body: Body
    shape: Shape | None = None
    symmetry: Annotated[str, Field(pattern=SYMMETRY_PATTERN)] | None = None
    incompressible: bool | None = None
    self_propelled: bool | None = None
    fixed: bool | None = None
    size_m: Positive | None = None
    mass: Positive | None = None
    terminal_speed: Positive | None = None
    material: Phrase | None = None

    @property
    def fold(self) -> int | None:
        """Return n of an n-fold symmetry about one axis, or None where it is not stated."""
        number = (self.symmetry or "").removesuffix("-fold")
        return int(number) if number.isdigit() else None


class Event(_Frozen):
    """Something that the prompt demands to happen, and the objects that take part (none for a camera move)."""

    event: EventName
    objects: Annotated[tuple[Id, ...], AfterValidator(_distinct)] = ()


class Driven(_Frozen):
    """An object that something drives: until it is released, or always."""

    object: Id
    until: Literal["release", "always"]


class Transform(_Frozen):
    """A stated change of what is there, with its cause (a magician's cloth, a cut, melting)."""

    object: Id
    kind: Literal["disappears", "appears", "splits", "merges"]
    cause: Phrase


class Expect(_Frozen):
    """The physics that the prompt states, and nothing more.

    `depth_order` holds (nearer, farther) pairs; `g_scale` is gravity relative to earth's; None means not stated.
    """

    events: tuple[Event, ...] = ()
    depth_order: tuple[Pair, ...] = ()
    contacts: tuple[Pair, ...] = ()
    free_flight: Annotated[tuple[Id, ...], AfterValidator(_distinct)] = ()
    driven: tuple[Driven, ...] = ()
    transforms: tuple[Transform, ...] = ()
    real_time: bool = True
    g_scale: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    light: Light | None = None
    camera: Camera | None = None

    def references(self) -> Iterator[tuple[str, str]]:
        """Return (key, object name) for every mention of an object, in order."""
        yield from (("events", name) for event in self.events for name in event.objects)
        yield from (("depth_order", name) for pair in self.depth_order for name in pair)
        yield from (("contacts", name) for pair in self.contacts for name in pair)
        yield from (("free_flight", name) for name in self.free_flight)
        yield from (("driven", item.object) for item in self.driven)
        yield from (("transforms", item.object) for item in self.transforms)


class Group(_Frozen):
    """One prompt group: the same scene for text-to-video and, from its first frame, for image-to-video."""

    id: Id
    part: Part = "custom"
    dimensions: Annotated[tuple[DimensionId, ...], AfterValidator(_distinct)] = ()
    tags: Annotated[tuple[Tag, ...], AfterValidator(_distinct)] = ()
    prompt: Text
    first_frame: Text | None = None
    objects: tuple[Object, ...] = ()
    expect: Expect = Expect()
    judge_notes: dict[DimensionId, Text] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _closed(self) -> Self:
        """Check that object names are unique and that `expect` and `judge_notes` refer to what is there."""
        names = [item.name for item in self.objects]
        if (twice := _repeated(names)) is not None:
            raise ValueError(f"objects: two are named {twice!r}; number them ({twice}_1, {twice}_2)")
        for key, name in self.expect.references():
            if name not in names:
                raise ValueError(f"expect.{key}: {name!r} is not in objects ({', '.join(names) or 'none given'})")
        return self

    def __hash__(self) -> int:
        """Return a hash by id, since `judge_notes` is a dict."""
        return hash(self.id)

    def object(self, name: str) -> Object:
        """Return the object of that name; KeyError if there is none."""
        for item in self.objects:
            if item.name == name:
                return item
        raise KeyError(name)

    def events(self, name: str) -> tuple[Event, ...]:
        """Return the stated events of that name."""
        return tuple(item for item in self.expect.events if item.event == name)

    def demands(self, dimension_id: str) -> bool:
        """Return whether the prompt states an event whose absence counts against `dimension_id`."""
        return any(dimension_id in DEMANDS[item.event] for item in self.expect.events)

    def digest(self) -> str:
        """Return 12 hex digits of the sha256 of the canonical JSON.

        Fields at their default do not enter it, so that a later optional field leaves old digests alone.
        """
        data = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of one line of a prompt file."""
    schema = Group.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "PVBench suite prompt group"}
