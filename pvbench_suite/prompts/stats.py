"""How varied a prompt suite is: counts of scenes, things, agents and phenomena, and the likest prompts.

Places, agents and phenomena are read from the prompts by the lists of ``vocabulary.toml``, so these counts are a
reader's aid and not a truth: a prompt with a street and a kitchen counts for both.  Everything else is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

from pvbench_suite.prompts import words
from pvbench_suite.prompts.catalogue import dimension_ids
from pvbench_suite.prompts.schema import DEMANDS, EVENTS, TAGS, Group

TOP = 15
NEAREST = 10


def report(groups: Iterable[Group]) -> dict[str, Any]:
    """Return the variety report as plain types, in a fixed order, ready for JSON.

    Counts are dicts from name to number of *groups* (largest first), except `nouns` and `materials`, which count
    objects.  `nearest` holds [share, id, id] of the likest pairs; the share is that of common 5-grams, in [0, 1].
    """
    items = tuple(groups)
    texts = [group.prompt for group in items]
    lengths = sorted(len(words.words(text)) for text in texts)
    nouns = Counter(item.noun.lower() for group in items for item in group.objects)
    materials = Counter(item.material.lower() for group in items for item in group.objects if item.material)
    grams = words.gram_counts(texts)
    return {
        "groups": len(items),
        "parts": _by(items, lambda group: (group.part,)),
        "words": {"min": lengths[0], "median": median(lengths), "max": lengths[-1]} if lengths else {},
        "tags": _by(items, lambda group: group.tags, TAGS),
        "in and out": _by(items, _in_and_out, ("indoors", "outdoors", "both", "not told")),
        "scenes": _by(items, lambda g: words.kinds(g.prompt, "indoors") + words.kinds(g.prompt, "outdoors")),
        "agents": _by(items, lambda group: words.kinds(group.prompt, "agents")),
        "phenomena": _by(items, lambda group: words.kinds(group.prompt, "phenomena")),
        "cameras": _by(items, lambda group: (group.expect.camera or "not stated",)),
        "lights": _by(items, lambda group: (group.expect.light or "not stated",)),
        "events": _by(items, lambda group: {event.event for event in group.expect.events}, EVENTS),
        "bodies": _by(items, lambda group: {item.body for item in group.objects}),
        "distinct nouns": len(nouns),
        "nouns": _top(nouns),
        "distinct materials": len(materials),
        "materials": _top(materials),
        "targets": _by(items, lambda group: group.dimensions, dimension_ids()),
        "demanded": _by(items, _demanded, sorted(set().union(*DEMANDS.values()))),
        "nearest": [[round(s, 4), items[i].id, items[j].id] for s, i, j in words.overlaps(texts)[:NEAREST]],
        "commonest 5-grams": _top(Counter({gram: n for gram, n in grams.items() if n > 1})),
    }


def _by(groups: Iterable[Group], key: Callable[[Group], Iterable[str]], known: Iterable[str] = ()) -> dict[str, int]:
    """Return in how many groups each name stands: `known` names in their order with zeros, else largest first."""
    counts = Counter(name for group in groups for name in key(group))
    listed = list(known)
    if listed:
        return {name: counts[name] for name in listed}
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _top(counts: Counter[str]) -> dict[str, int]:
    """Return the `TOP` largest counts, ties in alphabetical order."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:TOP])


def _in_and_out(group: Group) -> tuple[str]:
    """Return whether the prompt's places are indoors, outdoors, both or not told."""
    inside, outside = bool(words.kinds(group.prompt, "indoors")), bool(words.kinds(group.prompt, "outdoors"))
    return ("both" if inside and outside else "indoors" if inside else "outdoors" if outside else "not told",)


def _demanded(group: Group) -> set[str]:
    """Return the dimensions whose event the group demands."""
    return set().union(*(DEMANDS[event.event] for event in group.expect.events))


def markdown(data: dict[str, Any]) -> str:
    """Return the report of `report` as Markdown: one line of counts per topic, the likest pairs as a table."""
    lines = ["# Variety of the prompt suite", "", f"{data['groups']} groups.", ""]
    for key, value in data.items():
        if isinstance(value, dict):
            told = ", ".join(f"{_cell(name)} {number:g}" for name, number in value.items())
            lines.append(f"- **{key}**: {told or 'none'}")
        elif key not in ("groups", "nearest"):
            lines.append(f"- **{key}**: {value}")
    lines += ["", "| common 5-grams | group | group |", "|---:|---|---|"]
    lines += [f"| {share:.1%} | {one} | {other} |" for share, one, other in data["nearest"]]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Return `text` so that it cannot end a Markdown line or open a tag."""
    flat = " ".join(text.split())
    return flat.replace("\\", "\\\\").replace("<", "&lt;").replace("|", "\\|").replace("[", "\\[").replace("*", "\\*")
