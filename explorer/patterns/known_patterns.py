"""The patterns of netloupe itself, in the order in which they are looked for."""

from __future__ import annotations

from .accumulations import find_oscillators, find_renderings
from .activations import find_activations, find_activations_by_form
from .added_tokens import find_added_tokens
from .arithmetic import (
    find_formulas,
    find_rearranged,
    find_selections,
    find_softmaxes,
    find_standardized,
    find_statistics,
)
from .attention import find_attentions
from .binarization import find_binarizations
from .box_decoding import find_box_decodings
from .branched_convolutions import find_branched_convolutions
from .cascaded_attention import find_cascaded_attentions
from .channel_attention import find_channel_attentions
from .chebyshev import find_chebyshevs
from .chosen_queries import find_chosen_queries, find_differences_of_shares
from .chunks import find_chunks, find_overlap_adds
from .code_searches import find_nearest_codes, find_summed_embeddings
from .combinations import (
    find_atrous_pyramids,
    find_interactions,
    find_messages,
    find_pyramid_poolings,
)
from .combined_estimates import find_complex_masks, find_guidances
from .compressed_interactions import find_compressed_interactions
from .computed_kernels import find_computed_kernels, find_local_filters
from .conformers import find_conformers, find_convolution_modules, find_rotated_attentions
from .convolutional_attention import (
    find_convolutional_attentions,
    find_focal_modulations,
    find_gated_convolutions,
)
from .convolutional_mlps import find_convolutional_mlps
from .convolutions import find_convolutions
from .cost_volumes import find_cost_volumes
from .crosses import find_crosses, find_factorizations
from .deformable_attention import find_deformable_attentions
from .delta_rules import find_delta_rules
from .dense import find_dense, find_transitions
from .densities import find_gaussian_densities
from .depthwise_gates import find_depthwise_gates
from .distances import find_distances
from .divisive import find_divisive_norms
from .edge_attention import find_coordinate_updates, find_edge_attentions
from .edge_convolutions import find_edge_convolutions
from .edge_inputs import find_edge_inputs
from .entropy_models import find_entropy_models
from .estimators import find_estimators
from .expectations import find_expectations
from .experts import find_experts
from .fixed_transforms import find_fixed_transforms
from .flows import find_couplings, find_duels, find_gumbel_draws, find_masked_couplings
from .fourier_filters import find_fourier_filters
from .fusions import find_weighted_fusions
from .gated_layers import find_gated_residuals, find_highways, find_variable_selections
from .gates import find_adaptive_norms, find_gates
from .generated import find_generated_weights, find_runge_kutta, find_squashed_draws
from .graph_convolutions import find_graph_convolutions, find_stored_graphs
from .graph_networks import find_graph_networks
from .graphs import find_edge_features, find_graph_attentions
from .grids import find_grid_scatters, find_spatial_softmaxes
from .heat_maps import find_peaks, find_regulators
from .kernel_pooling import find_kernel_poolings
from .known_streams import STREAM_IDEAS, STREAM_UNITS
from .labels import find_biaffines, find_copy_mechanisms, find_label_chains
from .landmark_attention import find_landmark_attentions
from .latents import find_draws
from .lengths import find_lengths
from .light_cells import find_light_cells
from .linear import find_embeddings, find_linears
from .linear_attention import find_linear_attentions
from .low_rank import find_low_rank_attentions
from .masked_pools import find_masked_pools, find_scaled_parts
from .masked_weights import find_autoregressive_steps, find_masked_mlps
from .memories import find_maskings, find_memories
from .mlps import find_mlps
from .modulations import find_modulations, find_style_norms
from .norms import find_norms
from .operator_products import find_operator_products
from .outlook_attention import find_outlook_attentions
from .pair_updates import find_outer_products, find_triangles
from .partial_stages import find_partial_stages
from .place_attention import find_branch_attentions, find_global_contexts, find_place_attentions
from .point_attention import find_point_attentions
from .point_units import find_set_abstractions, find_vector_attentions
from .pointwise_attention import find_pointwise_attentions
from .polynomials import find_polynomials
from .pooled_features import find_bilinear_poolings, find_general_means
from .positions import find_merging, find_waves
from .predicted_transforms import find_predicted_transforms
from .prediction_heads import find_prediction_heads
from .pyramids import find_pyramid_steps
from .quantizers import find_quantizers, find_residual_quantizers
from .radial_bases import find_bessel, find_gaussians
from .recurrences import find_linear_recurrences, find_value_iterations
from .recurrent import find_cells, find_recurrent
from .registered_patterns import register_part as _part
from .registered_patterns import register_whole as _whole
from .resampling import find_joined, find_pixel_shuffles, find_resampled
from .residuals import find_residuals
from .retention import find_retentions
from .rotations import find_rotations
from .routings import find_residual_poolings, find_routings
from .scalar_quantizers import find_scalar_quantizers
from .scale_shifts import find_scale_shifts
from .separable import find_excitations, find_separable
from .series import find_decompositions
from .shifted_channels import find_channel_shifts
from .similarity import find_similarities, find_similarity
from .slices import find_slice_attentions
from .soft_caps import find_soft_caps
from .soft_trees import find_soft_trees
from .sparse_shares import find_sparsemax
from .spatial_gates import find_spatial_gates
from .spectra import find_spectral_products
from .splines import find_splines
from .split_scales import find_split_scales
from .squash import find_squashes
from .standardized import find_reversible_standardizations
from .state_spaces import find_mixers, find_state_spaces
from .step_aggregations import find_step_aggregations
from .stored_bases import find_stored_bases
from .time_mixing import find_shifts, find_time_mixes
from .token_mixing import find_mixer_blocks
from .transformers import find_reduced_attentions, find_sublayers, find_transformers
from .transport import find_sinkhorns
from .unpoolings import find_unpoolings
from .vector_tracks import find_vector_messages, find_vector_updates
from .warping import find_warps
from .waves import find_encodings, find_transforms
from .weighted_memories import (
    find_matrix_memories,
    find_soft_mixtures,
    find_target_attentions,
)
from .weighted_sums import find_soft_routing, find_weighted_sums
from .whole_groups import (
    find_branches,
    find_patches,
    find_row,
    find_same,
    find_shuffles,
    find_token_embeddings,
)
from .written_units import (
    find_ghosts,
    find_partial_convolutions,
    find_response_norms,
    find_snakes,
)

_NORMS = _part("norm", find_norms, "norm", family="normalization")
_LINEARS = _part("linear", find_linears, "linear", family="linear")
_ACTIVATIONS = _part("activation", find_activations, "activation", family="activation")
_ACTIVATION_FORMS = _part("activation", find_activations_by_form, "activation", family="activation")
_PIXEL_SHUFFLES = _part("pixel-shuffle", find_pixel_shuffles, "pixel shuffle", family="shape")
_ATTENTIONS = _part("attention", find_attentions, "attention", family="attention")
_ENCODINGS = _part("positional-encoding", find_encodings, "positions", family="shape")
_EXPERTS = _part("experts", find_experts, "experts", family="linear")
_EXCITATIONS = _part("excitation", find_excitations, "excitation")
_MIXERS = _part("state-space-mixer", find_mixers, "attention", family="attention")
_FILTERS = _part("fourier-filter", find_fourier_filters, "mixer")
_CONVOLUTIONS = _part("convolution", find_convolutions, "conv", family="linear")
_ADAPTIVE = _part("adaptive-norm", find_adaptive_norms, "adaptive norm", family="normalization")
_TRANSITIONS = _part("transition", find_transitions, "transition")
_SIMILARITIES = _part("similarities", find_similarities, "similarity", family="linear")

_SINKHORNS = _part("sinkhorn", find_sinkhorns, "unit", family="normalization")

#: ideas of papers that may be all that tells a residual block from others
UNITS = (
    _part("cascaded-attention", find_cascaded_attentions, "attention", family="attention"),
    _part("outlook-attention", find_outlook_attentions, "attention", family="attention"),
    _part("deformable-attention", find_deformable_attentions, "attention", family="attention"),
    _part("stored-graph", find_stored_graphs, "graph convolution"),
    _part("computed-kernel", find_computed_kernels, "unit"),
    _part("local-filter", find_local_filters, "unit"),
    _part("channel-attention", find_channel_attentions, "excitation"),
    _part("place-attention", find_place_attentions, "excitation"),
    _part("branch-attention", find_branch_attentions, "excitation"),
    _part("global-context", find_global_contexts, "excitation"),
    _part("depthwise-gate", find_depthwise_gates, "unit"),
    _part("ghost-module", find_ghosts, "unit"),
    _part("partial-convolution", find_partial_convolutions, "unit"),
    _part("convolutional-attention", find_convolutional_attentions, "unit"),
    _part("gated-convolution", find_gated_convolutions, "unit"),
    _part("focal-modulation", find_focal_modulations, "unit"),
    _part("channel-shift", find_channel_shifts, "unit"),
    _part("spatial-gate", find_spatial_gates, "unit"),
    _part("split-scales", find_split_scales, "unit"),
    _part("predicted-transform", find_predicted_transforms, "unit", family="linear"),
    _part("modulation", find_modulations, "unit"),
    _part("style-norm", find_style_norms, "adaptive norm", family="normalization"),
    _part("warping", find_warps, "unit"),
    _part("edge-convolution", find_edge_convolutions, "unit"),
    *STREAM_UNITS,
)
#: what is found among other operations; first what others are put together from
PARTS = (
    _NORMS,
    _LINEARS,
    _part("divisive-norm", find_divisive_norms, "norm", family="normalization"),
    _part("fixed-transform", find_fixed_transforms, "transform", "filter bank", family="linear"),
    _part("stored-basis", find_stored_bases, "basis", family="linear"),
    _ACTIVATIONS,
    _part("snake", find_snakes, "activation", family="activation"),
    _part("response-norm", find_response_norms, "norm", family="normalization"),
    _PIXEL_SHUFFLES,
    _ENCODINGS,
    _part("embedding", find_embeddings, "embedding", family="shape"),
    _part("landmark-attention", find_landmark_attentions, "attention", family="attention"),
    _ATTENTIONS,
    _part("low-rank-attention", find_low_rank_attentions, "attention", family="attention"),
    _part("delta-rule", find_delta_rules, "attention", family="attention"),
    _part("pointwise-attention", find_pointwise_attentions, "attention", family="attention"),
    _part("slice-attention", find_slice_attentions, "attention", family="attention"),
    _part("linear-attention", find_linear_attentions, "attention", family="attention"),
    _part("spatial-softmax", find_spatial_softmaxes, "expectation", family="reduction"),
    _part("mlp", find_mlps, "mlp", family="linear"),
    _part("masked-mlp", find_masked_mlps, "mlp", family="linear"),
    _EXPERTS,
    _ADAPTIVE,
    _CONVOLUTIONS,
    _part("convolutional-mlp", find_convolutional_mlps, "mlp", family="linear"),
    _part("branched-convolution", find_branched_convolutions, "conv", family="linear"),
    _EXCITATIONS,
    *UNITS,
    _part("separable-convolution", find_separable, "separable", "inverted"),
    _part("residual-block", find_residuals, "residual", "branches"),
    _MIXERS,
    _FILTERS,
)
#: what is told of all operations together, the most telling first
WHOLES = (
    _whole("estimator", find_estimators, "estimator", family="classical"),
    _whole("patches", find_patches, "embedding", family="shape"),
    _whole("transformer-block", find_transformers, "transformer"),
    _whole("conformer-block", find_conformers, "conformer"),
    _whole("convolution-module", find_convolution_modules, "conformer"),
    _whole("rotated-attention", find_rotated_attentions, "attention", family="attention"),
    _whole("reduced-attention", find_reduced_attentions, "attention", family="attention"),
    _whole("sublayer", find_sublayers, "attention", "mlp"),
    _whole("token-embedding", find_token_embeddings, "embedding", family="shape"),
    _whole("recurrent-layers", find_recurrent, "recurrent", family="recurrent"),
    _whole("recurrent-cell", find_cells, "recurrent", family="recurrent"),
    _whole("light-cell", find_light_cells, "recurrent", family="recurrent"),
    _whole("state-space-block", find_state_spaces, "mixer"),
    _whole("waves", find_waves, "positions", "embedding", family="generator"),
    _whole("similarity", find_similarity, "similarity", family="linear"),
    _whole("patch-merging", find_merging, "merging"),
    _whole("partial-stage", find_partial_stages, "csp", "spp"),
    _whole("step-aggregation", find_step_aggregations, "elan"),
    _whole("prediction-heads", find_prediction_heads, "heads"),
    _whole("dense-layer", find_dense, "dense", "transition"),
    _whole("shuffle-unit", find_shuffles, "shuffle"),
    _whole("branches", find_branches, "fire", "inception"),
    _whole("same", find_same, "activation", "norm"),
    _whole("pyramid-step", find_pyramid_steps, "pyramid"),
    _whole("resampling", find_resampled, "resampled", family="linear"),
    _whole("joined-block", find_joined, "residual"),
    _whole("mixer-block", find_mixer_blocks, "mixer"),
    _whole("row", find_row, "row"),
)
#: what papers are about, looked for where nothing else tells what operations are
IDEAS = (
    _part("fourier-transform", find_transforms, "transform", family="linear"),
    _part("entropy-model", find_entropy_models, "entropy model"),
    _part("gaussian-density", find_gaussian_densities, "density", family="elementwise"),
    _part("reparametrisation", find_draws, "draw"),
    _part("gumbel-softmax", find_gumbel_draws, "draw"),
    _part("vector-quantizer", find_quantizers, "quantizer"),
    _part("nearest-code", find_nearest_codes, "quantizer"),
    _part("vector-attention", find_vector_attentions, "attention", family="attention"),
    _part("set-abstraction", find_set_abstractions, "unit"),
    _part("volume-rendering", find_renderings, "unit"),
    _part("oscillators", find_oscillators, "unit"),
    _part("guidance", find_guidances, "unit"),
    _part("complex-mask", find_complex_masks, "unit"),
    _part("general-mean", find_general_means, "unit", family="pooling"),
    _part("bilinear-pooling", find_bilinear_poolings, "unit", family="pooling"),
    _part("scalar-quantizer", find_scalar_quantizers, "quantizer"),
    _part("residual-quantizer", find_residual_quantizers, "residual quantizer"),
    _part("summed-embeddings", find_summed_embeddings, "unit", family="shape"),
    _part("distances", find_distances, "distances", "neighbours"),
    _part("edge-features", find_edge_features, "edges"),
    _part("graph-convolution", find_graph_convolutions, "graph convolution"),
    _part("graph-attention", find_graph_attentions, "attention", family="attention"),
    _part("edge-attention", find_edge_attentions, "attention", "edge softmax", family="attention"),
    _part("coordinate-update", find_coordinate_updates, "coordinates"),
    _part("gaussian-basis", find_gaussians, "basis", family="elementwise"),
    _part("bessel-basis", find_bessel, "basis", family="elementwise"),
    _part("kernel-pooling", find_kernel_poolings, "unit", family="pooling"),
    _SINKHORNS,
    _part("operator-product", find_operator_products, "unit"),
    _part("chebyshev", find_chebyshevs, "basis", family="elementwise"),
    _part("compressed-interaction", find_compressed_interactions, "interaction"),
    _part("series-decomposition", find_decompositions, "decomposition"),
    _part("retention", find_retentions, "attention", family="attention"),
    _part("dot-interaction", find_interactions, "interaction"),
    _part("factorization-machine", find_factorizations, "factorization"),
    _part("cross-network", find_crosses, "cross"),
    _part("cost-volume", find_cost_volumes, "cost volume"),
    _part("atrous-pyramid", find_atrous_pyramids, "atrous pyramid"),
    _part("pyramid-pooling", find_pyramid_poolings, "pyramid pooling"),
    _part("vector-messages", find_vector_messages, "graph network"),
    _part("vector-update", find_vector_updates, "unit"),
    _part("graph-network", find_graph_networks, "graph network"),
    _part("message-passing", find_messages, "message passing", family="pooling"),
    _part("squash", find_squashes, "squash", family="activation"),
    _part("chosen-queries", find_chosen_queries, "attention", family="attention"),
    _part("differential-attention", find_differences_of_shares, "attention", family="attention"),
    _part("matrix-memory", find_matrix_memories, "matrix memory"),
    _part("target-attention", find_target_attentions, "attention", family="attention"),
    _part("soft-mixture", find_soft_mixtures, "experts"),
    _part("generated-weights", find_generated_weights, "generated", family="linear"),
    _part("squashed-draw", find_squashed_draws, "draw"),
    _part("runge-kutta", find_runge_kutta, "integration"),
    _part("point-attention", find_point_attentions, "attention", family="attention"),
    _part("label-chain", find_label_chains, "label chain"),
    _part("biaffine", find_biaffines, "biaffine", family="linear"),
    _part("copying", find_copy_mechanisms, "copying"),
    _part("sparsemax", find_sparsemax, "sparsemax", family="activation"),
    _part("soft-trees", find_soft_trees, "soft trees"),
    _part("auto-correlation", find_spectral_products, "attention", "correlation"),
    _part("routing", find_routings, "unit"),
    _part("residual-pooling", find_residual_poolings, "unit", family="pooling"),
    _part("affine-coupling", find_couplings, "coupling"),
    _part("masked-coupling", find_masked_couplings, "coupling"),
    _part("autoregressive-step", find_autoregressive_steps, "coupling"),
    _part("value-iteration", find_value_iterations, "value iteration"),
    _part("highway", find_highways, "highway"),
    _part("linear-recurrence", find_linear_recurrences, "recurrence", family="recurrent"),
    _part("gate", find_gates, "gate"),
    _part("gated-residual-network", find_gated_residuals, "gated network"),
    _part("variable-selection", find_variable_selections, "variable selection"),
    _part("unpooling", find_unpoolings, "unit"),
    _part("grid-scatter", find_grid_scatters, "unit"),
    _part("weighted-fusion", find_weighted_fusions, "unit"),
    _part("weighted-sum", find_weighted_sums, "attention", family="attention"),
    _part("soft-routing", find_soft_routing, "experts", "selection"),
    *STREAM_IDEAS,
    _part("outer-product", find_outer_products, "outer product"),
    _part("triangle-multiplication", find_triangles, "triangle"),
    _part("local-maxima", find_peaks, "peaks", family="pooling"),
    _part("length-regulator", find_regulators, "regulator", family="shape"),
    _part("splines", find_splines, "splines", family="activation"),
    _part("memory-attention", find_memories, "attention", family="attention"),
    _part("random-masking", find_maskings, "token masking"),
    _part("dueling-heads", find_duels, "duel"),
    _part("expected-value", find_expectations, "expectation", family="reduction"),
    _part("token-shift", find_shifts, "token shift"),
    _part("soft-cap", find_soft_caps, "soft cap", family="activation"),
    _part(
        *("reversible-standardization", find_reversible_standardizations, "standardized"),
        family="normalization",
    ),
    _part("masked-pool", find_masked_pools, "masked pool", family="pooling"),
    _part("box-decoding", find_box_decodings, "boxes", family="elementwise"),
    _part("scaled-parts", find_scaled_parts, "scaled parts", family="elementwise"),
    _part("chunks", find_chunks, "chunks", family="shape"),
    _part("overlap-add", find_overlap_adds, "overlap", family="shape"),
    _part("edge-inputs", find_edge_inputs, "edge inputs", family="shape"),
    _part("added-tokens", find_added_tokens, "added tokens", family="shape"),
    _part("polynomials", find_polynomials, "polynomials", family="elementwise"),
    _part("length", find_lengths, "length", family="elementwise"),
    _part("binarization", find_binarizations, "unit", family="activation"),
    _whole("time-mix", find_time_mixes, "time mix", "channel mix"),
    _part("rotation", find_rotations, "positions", family="shape"),
)
#: what operations without weights are together, where they are none of all these
ARITHMETIC = (
    _whole("scale-and-shift", find_scale_shifts, "scale and shift", family="elementwise"),
    _whole("statistics", find_statistics, "statistics", family="pooling"),
    _whole("standardization", find_standardized, "standardized", family="normalization"),
    _whole("softmax", find_softmaxes, "softmax", family="activation"),
    _whole("rearrangement", find_rearranged, "rearranged", family="shape"),
    _whole("selection", find_selections, "largest", family="shape"),
    _whole("formula", find_formulas, "formula", "mask", family="elementwise"),
)
#: what takes more operations than anything else, by its iterations
LONG = (_SINKHORNS,)
#: the kinds of block that a figure draws as one box wherever they are spilled among other nodes
IDEA_KINDS = frozenset(
    kind
    for pattern in (
        *(_ADAPTIVE, _ATTENTIONS, _ENCODINGS, _EXPERTS, _EXCITATIONS, _MIXERS, _FILTERS),
        *UNITS,
        *IDEAS,
    )
    for kind in pattern.kinds
)
#: what few nodes are
SMALL = (
    *(_NORMS, _ACTIVATIONS, _CONVOLUTIONS, _PIXEL_SHUFFLES),
    *(_TRANSITIONS, _SIMILARITIES),
)
#: what a single operator may stand for; linear layers are parts of attentions
FUSABLE = (_NORMS, _LINEARS, _ACTIVATION_FORMS, _ATTENTIONS)
#: what exporters write out
WRITTEN_OUT = (_NORMS, _ACTIVATION_FORMS)
PATTERNS = (*PARTS, _TRANSITIONS, _SIMILARITIES, *WHOLES, *IDEAS, *ARITHMETIC)
