"""The rules, by subject: each a function in a tuple with its documentation beside it.

What a rule looks at comes in as a :class:`~netloupe.explorer.checks.subject.Subject`; hits go out.
Ids are ``NL-`` with a letter for the subject and a number that is never given again.
"""

from . import (
    arranged_shapes,
    axes,
    bodies,
    dead_relus,
    denotations,
    exporting,
    imports,
    interface,
    legality,
    nets,
    noted,
    numerics,
    operand_shapes,
    portability,
    quantization,
    quantized_pairs,
    quantized_values,
    quantized_weights,
    redundancy,
    second_opinion,
    security,
    siblings,
    types,
    waste,
    windows,
    written_out,
)

#: all rules in the order in which they are applied
RULES = (
    *noted.RULES,
    *legality.RULES,
    *bodies.RULES,
    *imports.RULES,
    *types.RULES,
    *operand_shapes.RULES,
    *windows.RULES,
    *axes.RULES,
    *arranged_shapes.RULES,
    *second_opinion.RULES,
    *interface.RULES,
    *exporting.RULES,
    *numerics.RULES,
    *dead_relus.RULES,
    *quantization.RULES,
    *quantized_pairs.RULES,
    *quantized_values.RULES,
    *quantized_weights.RULES,
    *siblings.RULES,
    *portability.RULES,
    *security.RULES,
    *denotations.RULES,
    *nets.RULES,
    *waste.RULES,
    *redundancy.RULES,
    *written_out.RULES,
)
