"""Rules on the wording: length, language, names, observability, nouns, and likeness between prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pvbench_suite.prompts import words
from pvbench_suite.prompts.rules.finding import Finding, suite_part
from pvbench_suite.prompts.schema import Group

Groups = tuple[Group, ...]

MIN_WORDS, MAX_WORDS = 40, 120
MAX_OVERLAP = 0.35  # of the 5-grams of the smaller prompt
MAX_PROMPTS_PER_GRAM = 30
MIN_FUNCTION_WORDS = 0.15  # English running text has 0.35 to 0.5
_FOREIGN = re.compile("[^\x20-\x7e\n\t\u2018\u2019\u201c\u201d\u2013\u2014°é\u00d7½¼²³]")


def length(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each prompt that has not 40 to 120 words."""
    for group in groups:
        if not MIN_WORDS <= (n := len(words.words(group.prompt))) <= MAX_WORDS:
            advice = "say more of what happens and what is in view" if n < MIN_WORDS else "shorten it"
            yield Finding("length", group.id, f"the prompt has {n} words, not {MIN_WORDS} to {MAX_WORDS}; {advice}")


def english(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each prompt with foreign characters or too few English function words."""
    common = frozenset(words.vocabulary()["function_words"])
    for group in groups:
        if odd := _FOREIGN.search(group.prompt):
            yield Finding(
                "english", group.id, f"the prompt holds {odd[0]!r} (U+{ord(odd[0]):04X}); write plain English"
            )
            continue
        flat = words.tokens(group.prompt)
        if sum(token in common for token in flat) < MIN_FUNCTION_WORDS * len(flat):
            message = "the prompt has hardly any English function words; write whole English sentences"
            yield Finding("english", group.id, message)


def no_names(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each listed brand or person's name, a note for other capitalized words."""
    names = words.vocabulary()["names"]
    pattern = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, names)) + r")(?![^\W_])")
    allowed = frozenset(words.vocabulary()["capitals_allowed"])
    for group in groups:
        for text, key in ((group.prompt, "prompt"), (group.first_frame or "", "first_frame")):
            hits = set(pattern.findall(text))
            for name in sorted(hits):
                yield Finding("no_names", group.id, f"{key} holds the name {name!r}; say what the thing is instead")
            others = {re.split("['\u2019-]", word)[0] for word in words.inner_capitals(text)} - allowed
            for word in sorted(w for w in others if not any(w in name for name in hits)):
                yield Finding("no_names", group.id, f"{key} capitalizes {word!r}; if it is a name, replace it", "note")


def filmable(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each prompt that no real camera could film, by a list of telling words."""
    for group in groups:
        for word in sorted(words.found(group.prompt, "unfilmable")):
            yield Finding("filmable", group.id, f"the prompt says {word!r}; ask for what a real camera could film")


def observable(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each prompt of the 600 that says nothing of camera or framing."""
    for group in suite_part(groups):
        if not words.found(group.prompt, "camera"):
            message = "the prompt does not mention camera, view or frame; say what stays in view and from where"
            yield Finding("observable", group.id, message)


def nouns_in_prompt(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each object whose noun does not stand in the prompt (singular and plural alike)."""
    for group in groups:
        for item in group.objects:
            if not words.mentions(group.prompt, item.noun):
                message = f"noun {item.noun!r} of {item.name} is not in the prompt; use the prompt's own words"
                yield Finding("nouns_in_prompt", group.id, message)


def overlap(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each two prompts that share more than 35 % of the 5-grams of the smaller."""
    ours = suite_part(groups)
    for share, i, j in words.overlaps([group.prompt for group in ours]):
        if share <= MAX_OVERLAP:
            break
        message = f"shares {share:.0%} of its 5-grams with {ours[i].id}, more than {MAX_OVERLAP:.0%}; rewrite one"
        yield Finding("overlap", ours[j].id, message)


def common_grams(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each 5-gram that stands in more than 30 prompts."""
    counts = words.gram_counts(group.prompt for group in suite_part(groups))
    for gram, n in counts.most_common():
        if n <= MAX_PROMPTS_PER_GRAM:
            break
        message = f"{gram!r} stands in {n} prompts, more than {MAX_PROMPTS_PER_GRAM}; vary the wording"
        yield Finding("common_grams", None, message)
