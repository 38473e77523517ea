"""How the blocks that a sentence counts are called, and what is said of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.notation import write_count, write_span
from netloupe.explorer.patterns.attended_axes import ALONG
from netloupe.explorer.patterns.branched_convolutions import BRANCHED
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.deformable_attention import DEFORMABLE
from netloupe.explorer.patterns.residual_kinds import WITH
from netloupe.explorer.patterns.stored_kernels import BEGUN_AT_ZERO
from netloupe.explorer.patterns.transformer_details import (
    CLASS_ATTENTION,
    AttentionDetails,
    ExpertsDetails,
    MlpDetails,
)

from .cells import UnrolledDetails
from .dilations import write_dilations
from .layer_facts import describe_layers
from .layer_words import PROPER_NAMES, in_brackets, write_latents, write_layers
from .outline import Outline, OutlinePart
from .piece_runs import PieceRun, join_alike
from .pieces import (
    CAUSAL,
    CLASS,
    CROSS_ATTENTION,
    HOURGLASS,
    ROUTING,
    Piece,
    is_told,
)
from .sequences import RecurrentLayer, read_layer
from .sketch import write_row, write_way
from .stored_attention import follows_stored_attention

#: so many stages may be of one block each
_MOST_SINGLE = 4
#: numbers in words, before what begins with a number: ``two 3×3 convolutions``
SMALL_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
#: what is counted already
_COUNTED = re.compile(rf"(?:[\d,]+|{'|'.join(SMALL_NUMBERS)}) ")
#: ends of names that have no plural: ``Attention1D``
_OF_AXES = re.compile(r"\d[dD]$")
#: of longer ways the widths in the middle are left out
_MOST_WIDTHS = 6
_MOST_GLUE = 12
#: of more kinds it is not told what each is
_MOST_FACTS = 2
#: but for what each has a number of
_MOST_COUNTS = 4
#: blocks that go through stages, each of one width
_STAGED = frozenset({"group", "inverted", "residual", "separable"})
#: what blocks are called that have no name of their own, or one of operators
_NOUNS = {
    "Det": "determinant",
    "embedding": "embedding",
    "inverted": "inverted residual",
    "linear": "linear layer",
    "separable": "depthwise-separable convolution",
    "soft trees": "layer of soft decision trees",
}
#: kinds of attention after which a network is named
_TELLING_ATTENTION = frozenset(
    {"Auto-correlation", "Differential attention", "ProbSparse attention"}
)


def write_run(outline: Outline, run: PieceRun) -> str:
    """Return what a run is: ``6 blocks of Fourier mixing and MLP 48 → 96``."""
    if len(run.members[0]) == 1:
        return write_pieces(outline, run.pieces, run.times)
    told = write_members(outline, run.members)
    norms = _write_norms(outline, run.pieces)
    if run.count == 1:
        return join_with_and(told)
    blocks = write_count(run.count, "block")
    if len(told) > 2:  # else what follows in the sentence is read as one of them
        return f"{blocks} (each {strip_brackets(join_with_and(told))}{norms})"
    return f"{blocks} of {join_with_and(told)}{norms}"


def write_members(
    outline: Outline, members: Sequence[Sequence[Piece]], *, is_sized: bool = True
) -> list[str]:
    """Return what each of alike blocks holds, perhaps with sizes; the last block may lack some.

    What several places hold is counted.
    """
    places = [(noun, sizes if is_sized else "") for noun, sizes in _write_places(outline, members)]
    told = []
    for (noun, sizes), count in Counter(places).items():
        if _COUNTED.match(noun):  # several places hold as many
            told += [add_sizes(noun, sizes)] * count
        else:
            told.append(add_sizes(noun if count == 1 else count_pieces(count, noun), sizes))
    return told


def strip_brackets(text: str) -> str:
    """Return a text that stands in brackets itself, with commas in place of its own."""
    return re.sub(r" \((?=\d)", " ", text).replace(" (", ", ").replace(")", "")


def join_with_and(words: Sequence[str]) -> str:
    """Return ``a, b and c``."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _write_places(
    outline: Outline, members: Sequence[Sequence[Piece]]
) -> Iterator[tuple[str, str]]:
    """Yield what stands at each place of blocks, and its sizes; alike pieces in a row together."""
    start = 0
    for alike in join_alike(members[0]):
        end = start + len(alike)
        rows = [member[start:end] for member in members if len(member) >= end]
        start = end
        if len(alike) == 1:
            firsts = [row[0] for row in rows]
            yield name_piece(outline, firsts), _write_sizes(outline, firsts, is_row=False)
            continue
        texts = {write_pieces(outline, row) for row in rows}
        noun = name_piece(outline, alike)
        if len(rows) < len(members):  # the last block lacks some
            yield write_plural(noun), ""
            continue
        yield texts.pop() if len(texts) == 1 else count_pieces(len(alike), noun), ""


def write_pieces(outline: Outline, pieces: Sequence[Piece], times: int = 1) -> str:
    """Return what alike pieces that follow one another are: how many, with which sizes.

    Each of them stands for so many.
    """
    noun = name_piece(outline, pieces)
    if pieces[0].name == ROUTING:  # an update is between two iterations
        return f"routing by agreement in {len(pieces) * times + 1:,} iterations"
    sizes = _write_sizes(outline, pieces, is_row=True)
    if len(pieces) * times == 1:
        return add_sizes(noun, sizes)
    stages = _list_stages(pieces) if follows_on(outline, pieces) else []
    if len(stages) > 1:
        return add_sizes(f"stages of {write_row(stages)} {write_plural(noun)}", sizes)
    return add_sizes(count_pieces(len(pieces) * times, noun), sizes)


def add_sizes(noun: str, sizes: str) -> str:
    """Return what something is with its sizes: before what it has in it."""
    head, joint, inner = noun.partition(WITH)
    return f"{head}{sizes}{joint}{inner}"


def name_alike(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return what each of some pieces of one kind is called; of unlike convolutions no kernel."""
    nouns = {name_piece(outline, [piece]) for piece in pieces}
    return nouns.pop() if len(nouns) == 1 else "convolution"


def write_shortly(outline: Outline, pieces: Sequence[Piece], count: int) -> str:
    """Return how many alike pieces there are, with the one size that tells them: heads, widths."""
    noun = name_alike(outline, pieces)
    told = count_pieces(count, noun) if count > 1 else noun
    if pieces[0].layer is not None:
        layers = [piece.layer for piece in pieces if piece.layer is not None]
        heads = {_write_heads(one) for layer in layers for one in layer.attentions}
        kinds = {layer.attentions[0].name for layer in layers if layer.attentions}
        kind = kinds.pop() if len(kinds) == 1 else ""
        asking = [[fact for one in layer.attentions for fact in one.facts] for layer in layers]
        with_it = f" with {_lower(kind)}" if kind in _TELLING_ATTENTION else ""
        return told + with_it + _write_one(heads) + write_latents(asking)
    if pieces[0].kind == "linear":
        return told
    return add_sizes(told, _write_sizes(outline, pieces, is_row=count == len(pieces)))


def write_in_blocks(outline: Outline, rows: Sequence[Sequence[Piece]], each: int) -> str:
    """Return what stands in each of several blocks, of one kind: what is so of all of them.

    Parameters
    ----------
    outline
        The outline.
    rows
        Of each block the pieces of the kind.
    each
        How many there are in each block.
    """
    pieces = [piece for row in rows for piece in row]
    texts = {write_shortly(outline, row, each) for row in rows}
    if len(texts) == 1 and not (pieces[0].layer is not None and each > 1 and len(rows) > 1):
        return texts.pop()
    noun = name_alike(outline, pieces)
    if pieces[0].layer is not None:
        if any(len(piece.layer.attentions) > 1 for piece in pieces if piece.layer is not None):
            return count_pieces(each, noun)  # of row and column, say, before one MLP
        told = f"{each:,} attentions with MLP" if each > 1 else "attention with MLP"
        return told + _write_widths_of(rows)
    if each > 1:
        return count_pieces(each, noun)
    way = [width for width, _ in groupby(piece.part.out_features for piece in pieces)]
    if pieces[0].kind in _STAGED and all(way) and way in (sorted(way), sorted(way)[::-1]):
        return add_sizes(noun, f"{_write_kernel(pieces)} {shorten_way(way)} channels")
    return noun + _write_kernel(pieces)


def _write_widths_of(rows: Sequence[Sequence[Piece]]) -> str:
    """Return how wide the layers of a transformer in each of several blocks are."""
    ways = {tuple(piece.part.widths[-1:] for piece in row) for row in rows}
    widths = [*dict.fromkeys(ways.pop())] if len(ways) == 1 else []
    return (
        f" of width {join_with_and([f'{w[0]:,}' for w in widths])}"
        if all(widths) and widths
        else ""
    )


#: a network that goes down and up has each width so often
_TWICE = 2


def _list_stages(pieces: Sequence[Piece]) -> list[int]:
    """Return how many blocks there are until width or resolution change; nothing if unknown."""
    if pieces[0].kind not in _STAGED:
        return []
    counts: list[int] = []
    widths: list[int] = []
    for piece in pieces:
        width = piece.part.out_features
        if widths and width == widths[-1] and not piece.part.is_strided:
            counts[-1] += 1
        else:
            counts.append(1)
            widths.append(width)
    if all(widths) and _TWICE * len({*widths}) < len(widths):
        return []  # blocks of one list after the other, as of flows
    is_known = all(piece.part.out_features or len(counts) > 1 for piece in pieces)
    # of blocks that nearly all change width there are no stages
    are_stages = len(counts) <= _MOST_SINGLE or 2 * counts.count(1) <= len(counts)
    return counts if is_known and are_stages and len(counts) < len(pieces) else []


def count_pieces(number: int, noun: str) -> str:
    """Return how many pieces there are of what is called so."""
    if noun[:1].isdigit() and number < len(SMALL_NUMBERS):
        return f"{SMALL_NUMBERS[number]} {noun if number == 1 else write_plural(noun)}"
    return write_count(number, noun, write_plural(noun))


#: attentions that go along more axes are not told
_MOST_AXES = 2

#: the ends of what is called alike, one or several
_WITHOUT_PLURAL = (
    *("excitation", "experts", "features", "masking", "mixing"),
    *("neighbours", "passing", "splines"),
)


def write_plural(noun: str) -> str:
    """Return what several pieces are called."""
    head, joint, rest = noun.partition(WITH)
    if joint:
        return f"{write_plural(head)}{joint}{rest}"
    for link in (" of ", " to ", " by "):  # an interaction of places
        first, joint, rest = noun.partition(link)
        if joint:
            return f"{write_plural(first)}{joint}{rest}"
    if noun.endswith(_WITHOUT_PLURAL):
        return noun
    if noun[-1:].isdigit() or _OF_AXES.search(noun):  # as of Mamba-2
        return f"{noun} layers"
    if noun.endswith("sis"):  # bases
        return f"{noun.removesuffix('is')}es"
    return f"{noun}es" if noun.endswith(("ch", "ss", "x")) else f"{noun}s"


def name_piece(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return what each of alike pieces is called."""
    part = pieces[0].part
    if pieces[0].kind == CLASS:
        return pieces[0].name
    if pieces[0].layer is not None:
        is_own = pieces[0].name in (CLASS_ATTENTION, CROSS_ATTENTION)
        if pieces[0].name == CROSS_ATTENTION and follows_stored_attention(outline, pieces[0]):
            is_own = False
        kind = "deformable " if pieces[0].name == DEFORMABLE else ""
        own = pieces[0].name.lower().replace(" ", "-")
        return f"{own} block" if is_own else f"{kind}transformer block"
    if part.kind == "conv":
        details = [piece.part.details.read_as(ConvolutionDetails) for piece in pieces]
        return _name_convolution(details)
    if part.kind == "mlp" or pieces[0].name == HOURGLASS:
        return _lower(pieces[0].name) if part.kind == "mlp" else HOURGLASS.lower()
    if part.kind == "attention":
        return _lower(pieces[0].name)
    if part.kind == "unrolled":
        unrolled = part.details.read_as(UnrolledDetails)
        both = "bidirectional " if unrolled.bidirectional else ""
        return f"{both}{part.name} {'cell' if unrolled.steps is None else 'layer'}"
    if part.has("recurrent"):
        layer = _read_layer(outline, part)
        both = "bidirectional " if layer.direction == "bidirectional" else ""
        return f"{both}{layer.kind} layer"
    if part.has("samples"):
        return "grid sampling"
    forms = {piece.part.details.read_as(ConvolutionDetails).form for piece in pieces}
    if part.kind == "separable" and forms == {BRANCHED}:
        return f"{BRANCHED} {_NOUNS[part.kind]}"
    told = _NOUNS.get(part.kind) or _lower(part.name or part.kind)
    return f"{CAUSAL.lower()} {told}" if pieces[0].name.startswith(CAUSAL) else told


def name_kind(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return the noun under which pieces are counted, whatever kernel and direction they have."""
    part = pieces[0].part
    if pieces[0].kind == CLASS:
        return pieces[0].name
    if pieces[0].layer is None and part.kind == "conv":
        return "transposed convolution" if part.is_transposed else "convolution"
    if pieces[0].layer is None and part.has("recurrent"):
        return f"{_read_layer(outline, part).kind} layer"
    return name_piece(outline, pieces[:1])


def name_together(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return what pieces of one kind are called together."""
    nouns = {name_piece(outline, [piece]) for piece in pieces}
    return nouns.pop() if len(nouns) == 1 else name_kind(outline, pieces)


def _lower(name: str) -> str:
    """Return a name as it is inside of a sentence; that of a network keeps its capitals."""
    is_name = name.startswith(PROPER_NAMES) or any(
        letter.isupper() for letter in name.split(" ")[0][1:]
    )
    return name if is_name else name[:1].lower() + name[1:]


def _name_convolution(details: Sequence[ConvolutionDetails]) -> str:
    forms = {one.form for one in details}
    words = [form for form in forms - {BEGUN_AT_ZERO} if form] if len(forms) == 1 else []
    if all(one.dilation for one in details):
        words.append("dilated")
    if all(one.transposed for one in details):
        words.append("transposed")
    kernels = {one.kernel for one in details}
    kernel = kernels.pop() if len(kernels) == 1 else ()
    if kernel == (1,):
        words.append("pointwise")
    elif len(kernel) > 1:
        words.append("×".join(map(str, kernel)))
    if all(one.is_depthwise for one in details):
        words.append("depthwise")
    return " ".join((*words, "convolution"))


def _read_layer(outline: Outline, part: OutlinePart) -> RecurrentLayer:
    return read_layer(outline.operations.nodes[part.end])


def _write_sizes(outline: Outline, pieces: Sequence[Piece], *, is_row: bool) -> str:
    """Return what is known of the sizes of alike pieces, with a space before it.

    Items of a row follow one another; others stand at one place of blocks.
    """
    part = pieces[0].part
    if pieces[0].name == HOURGLASS:
        return ""
    if pieces[0].kind == CLASS:
        return in_brackets(_count_layers(pieces))
    if pieces[0].layer is not None:
        layers = [piece.layer for piece in pieces if piece.layer is not None]
        return in_brackets(write_layers(describe_layers(outline, layers)))
    if part.kind == "embedding":
        return _write_one({_write_table(piece.part) for piece in pieces})
    if part.kind == "Det":
        return _write_one({_write_square(outline, piece.part) for piece in pieces})
    if part.kind == "attention":
        heads = _write_one({_write_heads(piece.part) for piece in pieces})
        return heads + write_axes_of(pieces)
    if part.kind in ("mlp", "experts"):
        return _write_feeding(pieces)
    if part.kind == "unrolled" or part.has("recurrent"):
        return _write_one({_write_hidden(outline, piece.part) for piece in pieces})
    sizes = _write_features(outline, pieces, is_row=is_row) + _write_kernel(pieces)
    counts = Counter(", ".join(piece.part.facts) for piece in pieces)
    facts = [*counts]
    if part.kind == "conv" or sizes or not all(facts):
        return sizes
    if len(facts) > _MOST_FACTS:
        return in_brackets(_join_counts(facts) or _write_shared(pieces))
    if len(facts) > 1 and any(", " in fact for fact in facts):
        return in_brackets("; ".join(_count_facts(*one) for one in counts.items()))
    each = " each" if part.kind == "basis" and len(pieces) > 1 == len(facts) else ""
    return in_brackets(f"{join_with_and(facts)}{each}")


def _count_layers(pieces: Sequence[Piece]) -> str:
    """Return how many convolutions each of some blocks holds, and nothing else."""
    if any(part.kind != "conv" for piece in pieces for part in piece.parts):
        return ""
    counts = [len(piece.parts) for piece in pieces]
    each = " each" if len(counts) > 1 else ""
    return f"{write_span(counts)} convolutions{each}"


def _count_facts(facts: str, count: int) -> str:
    """Return ``9 demodulated, 3×3``: what is so of some pieces, and of how many of them."""
    return f"{count:,} {'of ' if facts[0].isdigit() else ''}{facts}"


def _write_shared(pieces: Sequence[Piece]) -> str:
    """Return the facts that all pieces have."""
    first, *others = (piece.part.facts for piece in pieces)
    return ", ".join(fact for fact in first if all(fact in facts for facts in others))


def _join_counts(facts: Sequence[str]) -> str:
    """Return ``3, 6 and 4 variables`` for counts of one noun; "" for others, and for more."""
    found = [re.fullmatch(r"([\d,]+) ([a-z]+)", fact) for fact in facts[: _MOST_COUNTS + 1]]
    numbers = [one[1] for one in found if one is not None]
    nouns = {one[2] for one in found if one is not None}
    if len(numbers) < len(found) or len(found) > _MOST_COUNTS or len(nouns) > 1:
        return ""
    return f"{join_with_and(numbers)} {nouns.pop()}"


def write_sizes_of(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return what is known of the sizes of pieces of one kind in order, with a space before it."""
    return _write_sizes(outline, pieces, is_row=True)


def _write_kernel(pieces: Sequence[Piece]) -> str:
    """Return the kernel of convolutions along one axis, and from where to where dilations go."""
    details = [piece.part.details.read_as(ConvolutionDetails) for piece in pieces]
    kernels = {one.kernel for one in details}
    told = []
    kernel = kernels.pop()
    if not kernels and len(kernel) == 1 and kernel != (1,):
        told.append(f"kernel {kernel[0]}")
    told.append(write_dilations([one.dilation or 1 for one in details]))
    return in_brackets(", ".join(filter(None, told)))


def _write_one(texts: set[str]) -> str:
    """Return what is so of all; "" where they differ."""
    return texts.pop().rstrip() if len(texts) == 1 else ""


def _write_table(part: OutlinePart) -> str:
    return f" of {part.rows:,} × {part.row_width:,}" if part.rows and part.row_width else ""


def _write_square(outline: Outline, part: OutlinePart) -> str:
    """Return the size of the matrix of a determinant, as of orbitals and electrons.

    D. Pfau and others, Ab Initio Solution of the Many-Electron Schrodinger Equation with Deep
    Neural Networks, 2020, equation 5.
    """
    matrix = outline.operations.nodes[part.end].input(0)
    facts = find_value_facts(outline.graph.model)
    shape = (facts.find_dims(matrix) if matrix is not None else None) or ()
    size = shape[-1] if shape else None
    return f" of {size:,} × {size:,}" if isinstance(size, int) else ""


def _write_heads(part: OutlinePart) -> str:
    details = part.details.read_as(AttentionDetails)
    if not details.heads:
        return ""
    plural = "s" if details.heads > 1 else ""
    width = f" × {details.head_width}" if details.head_width else ""
    return f" of {details.heads} head{plural}{width}"


def write_axes_of(pieces: Sequence[Piece]) -> str:
    """Return ``along height or width`` of attentions that each go along one axis of a map."""
    told = [next((f for f in one.part.facts if f.startswith(ALONG)), "") for one in pieces]
    axes = [*dict.fromkeys(fact.removeprefix(ALONG) for fact in told)]
    return f" {ALONG}{' or '.join(axes)}" if all(told) and len(axes) <= _MOST_AXES else ""


def _write_hidden(outline: Outline, part: OutlinePart) -> str:
    unrolled = part.details.read_as(UnrolledDetails)
    if unrolled.hidden:
        steps = f" written out in {unrolled.steps:,} steps" if unrolled.steps else ""
        return f" of width {unrolled.hidden:,}{steps}"
    hidden = _read_layer(outline, part).hidden if part.has("recurrent") else 0
    return f" of width {hidden:,}" if hidden else ""


def _write_feeding(pieces: Sequence[Piece]) -> str:
    experts = {piece.part.details.read_as(ExpertsDetails) for piece in pieces}
    one = experts.pop()
    if pieces[0].kind == "experts":
        chosen = f", {one.top} per token" if one.top else ""
        return f" of {one.experts:,}{chosen}" if not experts and one.experts else ""
    widths = list(dict.fromkeys(piece.part.widths for piece in pieces))
    activations = {piece.part.details.read_as(MlpDetails).activation for piece in pieces}
    told = []
    if len(widths) <= 2 and all(widths):
        write = _write_widths if len(widths) == 1 else _write_whole_widths
        told.append(" and ".join(map(write, widths)))
    if len(activations) == 1 and (name := activations.pop()):
        told.append(name)
    return in_brackets(", ".join(told))


def _write_widths(way: Sequence[int]) -> str:
    """Return the widths of an MLP: of one that gives what it takes the inner one counts."""
    if len(way) == 3 and way[0] == way[2]:
        return write_way(way[:-1])
    return _write_whole_widths(way)


def _write_whole_widths(way: Sequence[int]) -> str:
    """Return all widths of an MLP, as beside another one that gives no more than it takes."""
    if len(way) > 4 and len({*way[1:]}) == 1:
        return f"{way[0]:,} → {way[1]:,} in {len(way) - 1} layers"
    count = f" in {len(way) - 1} layers" if len(way) > _MOST_WIDTHS else ""
    return f"{shorten_way(way)}{count}"


def _write_features(outline: Outline, pieces: Sequence[Piece], *, is_row: bool) -> str:
    """Return widths: of a chain each, of others those that all have."""
    sizes = [(piece.parts[0].in_features, piece.part.out_features) for piece in pieces]
    if not all(taken and given for taken, given in sizes):
        return ""
    is_linear = pieces[0].kind in ("basis", "linear")
    given = [size for _, size in sizes]
    noun = "" if is_linear else f" channel{'s' if max(given) > 1 else ''}"
    if len({*sizes}) == 1 and len(pieces) > 1:
        taken = sizes[0][0]
        return f" {taken:,} → {given[0]:,}{noun}" if taken != given[0] else f" of {taken:,}{noun}"
    if not is_row:
        return f" of {write_span(given)}{noun}"
    if all(one[1] == two[0] for one, two in pairwise(sizes)) and follows_on(outline, pieces):
        way = [sizes[0][0], *given]
        kept = way  # of layers each width is told, of convolutions where it changes
        if not is_linear:
            kept = [way[0], *(two for one, two in pairwise(way) if one != two)]
        if len({*kept}) == 1:
            return f" of {kept[0]:,}{noun}"
        return f" {shorten_way(kept)}" + ("" if is_linear else " channels"[: 8 + (kept[-1] > 1)])
    return ""


def shorten_way(widths: Sequence[int]) -> str:
    """Return widths with arrows; of many the first two and the last."""
    if len(widths) <= _MOST_WIDTHS:
        return write_way(widths)
    return f"{write_way(widths[:2])} → … → {widths[-1]:,}"


def follows_on(outline: Outline, pieces: Sequence[Piece]) -> bool:
    """Return whether each piece takes what the one before it gives, and nothing told between."""
    return all(_follows(outline, two.parts[0], one.part) for one, two in pairwise(pieces))


def _follows(outline: Outline, part: OutlinePart, before: OutlinePart) -> bool:
    pending, seen = [part], {part}
    while pending and len(seen) <= _MOST_GLUE:
        for giver in outline.givers(pending.pop()):
            if giver is before:
                return True
            if giver not in seen and not is_told(giver):
                seen.add(giver)
                pending.append(giver)
    return False


def _write_norms(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return which norm blocks have between them, where all have the same."""
    low, high = pieces[0].parts[0].place, pieces[-1].part.place
    names = {part.name for part in outline.parts[low:high] if part.kind == "norm"}
    return f", {names.pop()}" if len(names) == 1 else ""
