"""What is said of the layers of a transformer, and of what it takes and gives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail, count_queries

from .outline import Outline, OutlinePart
from .sizes import find_positions
from .sketch import write_way

#: names of people and of networks, which keep their first letter inside of a sentence
PROPER_NAMES = (
    *("Bessel", "Chebyshev", "Conformer", "ConvNeXt", "Fourier", "Gaussian", "Inception"),
    *("Mamba", "Nystrom", "ShuffleNet", "Sinkhorn", "Viterbi"),
)
#: learned queries that are fewer than what they attend to, of a width where that is known
_LATENTS = re.compile(r"([\d,]+)(?: × ([\d,]+))? latents")
#: what one of what a head gives is called
_GIVEN = {"classes": "class", "outputs": "output"}


def list_sizes(facts: Mapping[str, Detail]) -> dict[str, Detail]:
    """Return the sizes among what is so of all layers."""
    found: dict[str, Detail] = {}
    widths = facts.get("widths")
    if isinstance(widths, tuple) and len(widths) == 3:
        found |= {"width": widths[0], "inner_width": widths[1]}
    for key in ("heads", "head_width", "kv_heads", "latent", "experts", "shared_experts"):
        if key in facts:
            found[key] = facts[key]
    if "top" in facts:
        found["used_experts"] = facts["top"]
    return found


def read_tokens(outline: Outline, tokens: Sequence[OutlinePart]) -> dict[str, Detail]:
    """Return the vocabulary of a table of tokens, and how many positions are added to them."""
    if not tokens:
        return {}
    facts: dict[str, Detail] = {"vocabulary": tokens[0].rows}
    # of calls with several lengths each may hold a part of the table
    calls = [one for one in tokens if one.rows == tokens[0].rows]
    positions = {find_positions(outline, one) for one in calls}
    count = positions.pop()
    return facts | ({"positions": count} if count and not positions else {})


def read_head(
    head: tuple[int, bool, bool] | None, facts: Mapping[str, Detail]
) -> dict[str, Detail]:
    """Return what the last layer gives, unless it is tokens or features again."""
    if head is None:
        return {}
    count, is_one, classifies = head
    if count == facts.get("vocabulary") or count == facts.get("width"):
        return {}
    if is_one and classifies:
        return {"classes": count}
    return {"outputs": count}


def write_sizes(facts: Mapping[str, Detail]) -> list[str]:
    """Return vocabulary, positions and outputs, as far as they are known."""
    said = [f"{key} {facts[key]:,}" for key in ("vocabulary", "positions") if key in facts]
    return said + [write_given(facts[key], key) for key in _GIVEN if key in facts]


def write_given(count: Detail, key: str) -> str:
    """Return how many ``classes`` or ``outputs`` a head gives, in words: ``1 output``."""
    return f"{count:,} {_GIVEN[key] if count == 1 else key}"


def write_lower(title: str) -> str:
    """Return a title inside of a sentence; proper names and ``UNet`` keep their capitals."""
    is_name = title.startswith(PROPER_NAMES) or title[1:2].isupper()
    return title if is_name else title[:1].lower() + title[1:]


def write_blocks(count: int, noun: str, facts: Mapping[str, Detail]) -> str:
    """Return how many blocks there are, with what is so of all of them in brackets.

    Of some that are run in turn with the same weights how many have weights of their own, and how
    often: ``2 blocks run 15 times in turn`` (A. Jolicoeur-Martineau, Less is More: Recursive
    Reasoning with Tiny Networks, 2025, section 4).
    """
    own, turns = facts.get("shared"), facts.get("turns")
    told = write_count(count, noun)
    if isinstance(own, int) and isinstance(turns, int):
        told = f"{write_count(own, noun)} run {'twice' if turns == 2 else f'{turns:,} times'}"
        told += " in turn"
    return told + in_brackets(write_layers(facts))


def in_brackets(text: str) -> str:
    """Return what is said of blocks behind their number."""
    return f" ({text})" if text else ""


def write_layers(facts: Mapping[str, Detail]) -> str:
    """Return what is so of all layers: norm; attention; MLP."""
    said = []
    if "order" in facts:
        said.append(f"{facts['order']} {facts['norm']}")
    if facts.get("parallel"):
        said.append("attention and MLP in parallel")
    said.append(write_attention(facts) or str(facts.get("mixture", "")))
    if "kernel" in facts:
        said.append(f"depthwise convolution of kernel {facts['kernel']}")
    said.append(write_feeding(facts) or str(facts.get("feedings", "")))
    own = facts.get("shared")
    if own and "turns" not in facts:
        said.append("weights shared by all" if own is True else f"weights of {own:,} in turn")
    if "used_again" in facts:  # by stacks of which one is run more often than another
        said.append(f"weights of {facts['used_again']:,}, used again")
    return "; ".join(part for part in said if part)


def write_attention(facts: Mapping[str, Detail]) -> str:
    """Return what is so of the attention of layers: kind, heads, positions, what it sees."""
    name = str(facts.get("attention", ""))
    if not name:
        return ""
    if name in ("Attention", "Cross-attention"):
        name = "attention"
    name = name if name.startswith(PROPER_NAMES) else name[:1].lower() + name[1:]
    if "side" in facts:
        name = f"{facts['side']} × {facts['side']} {name}"
    heads, width = facts.get("heads"), facts.get("head_width")
    shared = facts.get("kv_heads")
    # words, but for SwiGLU and MLP
    text = name[0].lower() + name[1:] if name[1:2].islower() and " " in name else name
    if isinstance(heads, int):
        text += f" {heads} head{'s' if heads > 1 else ''}" + (f" × {width}" if width else "")
        if isinstance(shared, int) and shared != heads:
            text += f" over {shared}"
    if "latent" in facts:
        text += f" over {facts['latent']} latent features"
    if "landmarks" in facts:
        text += f" by {facts['landmarks']} landmarks"
    if "queries" in facts:
        text += f" of {facts['queries']}"
    words = [str(facts["rule"])] if "rule" in facts else []
    positions = facts.get("positions")
    if positions:
        noun = "" if positions == "rotary" else " position" if positions == 1 else " positions"
        words.append(f"{positions}{noun}")
    words += [str(facts[key]) for key in ("along", "marks") if key in facts]
    words += write_sight(facts)
    text = ", ".join((text, *words))
    crossing = "deformable cross-attention" if facts.get("deformable") else "cross-attention"
    return text + (f", {crossing}" if facts.get("cross") else "")


def write_sight(facts: Mapping[str, Detail]) -> list[str]:
    """Return which tokens attention sees."""
    words = ["causal"] if facts.get("causal") else []
    if "window" in facts:
        words.append(f"window {facts['window']:,}")
    elif "windows" in facts:
        words.append(str(facts["windows"]))
    return [*words, "with past"] if facts.get("past") else words


def write_feeding(facts: Mapping[str, Detail]) -> str:
    """Return what is so of the MLPs or experts of layers."""
    name = str(facts.get("feeding", ""))
    if not name:
        return ""
    widths = facts.get("widths")
    if "experts" in facts:
        chosen = f", {facts['top']} per token" if "top" in facts else ""
        unit = f", {facts['unit']}" if "unit" in facts else ""
        if unit and isinstance(widths, tuple):
            unit += " " + write_way(widths[:-1])
        experts = facts["experts"]
        beside = facts.get("shared_experts")
        more = f" and {beside} shared" if beside else ""
        return f"{experts} expert{'' if experts == 1 else 's'}{more}{chosen}{unit}"
    # words, but for SwiGLU and MLP
    text = name[0].lower() + name[1:] if name[1:2].islower() and " " in name else name
    if "around" in facts:  # one before the attention, and one behind it
        text = f"two {'half-step ' if facts['around'] else ''}{text}s"
    if isinstance(widths, tuple):
        text += " " + write_way(widths[:-1])
    if "MLP" in name and facts.get("activation"):
        text += f", {facts['activation']}"
    return text


def write_latents(layers: Sequence[Sequence[str]]) -> str:
    """Return ``by 128 learned latents × 256`` where these ask in all of some layers.

    A. Jaegle and others, Perceiver: General Perception with Iterative Attention, 2021, section 3.1.

    Parameters
    ----------
    layers
        Of each layer the facts of its attentions.
    """
    told = {next((fact for fact in facts if count_queries([fact])), "") for facts in layers}
    found = _LATENTS.fullmatch(told.pop()) if len(told) == 1 else None
    if found is None:
        return ""
    return f" by {found[1]} learned latents" + (f" × {found[2]}" if found[2] else "")
