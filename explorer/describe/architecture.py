"""What a model is as a whole: as a section, and as an object that JSON can hold."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.architecture import Architecture, ArchitectureBlock

from .description import Row, Section, keep_sections, make_section
from .file_text import write_line


def list_architecture_sections(told: Architecture) -> tuple[Section, ...]:
    """Return what a model is in words, and its blocks with where they are; nothing if unknown."""
    rows = [
        Row(_write_name(block), f"×{block.count:,}", "", block.path)
        for block in told.blocks
        if block.count > 1
    ]
    words = "\n".join(map(write_line, list_lines(told)))
    return keep_sections([Section("Architecture", (), words), make_section("Blocks", rows)])


def list_lines(told: Architecture) -> list[str]:
    """Return the summary in lines: what it is, and what it costs."""
    return [line for line in (told.sentence, told.costs_sentence) if line]


def _write_name(block: ArchitectureBlock) -> str:
    return block.name[:1].upper() + block.name[1:]


def collect_architecture(told: Architecture) -> dict[str, Any]:
    """Return what a model is.

    Returns
    -------
    dict
        ``summary`` and ``family``, "" where it is not plain; ``blocks`` (name, count, path, facts)
        and ``facts``, as :class:`~netloupe.Architecture` has them; ``text``, the summary in lines.
    """
    return {
        "summary": told.summary,
        "family": told.family,
        "blocks": [
            {
                "name": block.name,
                "count": block.count,
                "path": block.path,
                "facts": dict(block.facts),
            }
            for block in told.blocks
        ],
        "facts": dict(told.facts),
        "text": list_lines(told),
    }
