"""The rules of ``netloupe check`` as Markdown for the site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from netloupe.explorer.checks.rule import Rule
from netloupe.explorer.checks.rules import RULES

#: what the letter of an id stands for, in the order of the page
SUBJECTS = {
    "L": "Legality",
    "T": "Types and shapes",
    "I": "Interface",
    "X": "Export mistakes",
    "N": "Numbers in the weights",
    "Q": "Quantization",
    "R": "Repeated blocks and weights",
    "P": "Portability",
    "S": "Security",
    "D": "Denotations",
    "C": "Caffe2 nets",
    "G": "Waste",
}
_TEXT = str.maketrans({"<": "&lt;", "*": r"\*", "_": r"\_", "[": r"\[", "|": r"\|"})
_NOTES = (
    ("is_opt_in", "runs only where it is selected by its id or name"),
    ("needs_target", "runs only for a target, as in `--target ort-1.17`"),
    ("reads_values", "reads the elements of tensors"),
)


def write_markdown() -> str:
    """Return a table of all rules, and what each is about, by subject."""
    by_subject = defaultdict(list)
    for rule in RULES:
        by_subject[rule.id[3]].append(rule)
    counts = {word: sum(r.severity == word for r in RULES) for word in ("error", "warning", "note")}
    told = ", ".join(f"{count} of severity {word}" for word, count in counts.items())
    lines = [f"There are {len(RULES)} rules: {told}.", ""]
    for letter in [*SUBJECTS, *sorted(set(by_subject) - set(SUBJECTS))]:
        rules = sorted(by_subject.get(letter, ()), key=lambda rule: rule.id)
        if rules:
            lines += [f"## {SUBJECTS.get(letter, letter)} (NL-{letter})", ""]
            lines += [line for rule in rules for line in _write_rule(rule)]
    return "\n".join(lines)


def _write_rule(rule: Rule) -> Iterator[str]:
    yield f"({rule.id.lower()})="
    yield f"### {rule.id} {rule.name}"
    yield ""
    notes = [told for name, told in _NOTES if getattr(rule, name)]
    head = f"**{rule.severity}**: {_escape(rule.title)}."
    yield head + (f" It {', and '.join(notes)}." if notes else "")
    yield from ("", _escape(rule.why), "")
    yield from ("Remedy", f":   {_escape(rule.remedy)}", "")
    yield from ("Source", f":   {_escape(rule.source)}", "")


def _escape(text: str) -> str:
    """Return a text of a rule, whose backquotes mean code, as Markdown."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return text.replace("`", r"\`").translate(_TEXT)
    parts[::2] = [part.translate(_TEXT) for part in parts[::2]]
    return "`".join(parts)
