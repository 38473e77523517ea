"""What repeats and their blocks are called: from the first to the last, in order and exactly."""

from __future__ import annotations

from netloupe.explorer.grouping.repeat_names import Member, join_several, name_repeat, name_several


def name(*blocks: str) -> tuple[str, str, list[str]]:
    """Name blocks, each written as its members; those in capitals are the largest."""
    return name_repeat(
        [
            [
                Member(text.lower(), text.lower().split(" / ")[-1], 2 if text.isupper() else 1)
                for text in block.split(", ")
            ]
            for block in blocks
        ]
    )


def test_a_stack_goes_from_its_first_to_its_last_block() -> None:
    found = name("layers.0", "layers.1", "layers.2")
    assert found == ("layers.0-2", "layers.0 … layers.2", ["layers.0", "layers.1", "layers.2"])


def test_numbers_in_no_order_are_named_from_the_least_to_the_largest() -> None:
    path, label, labels = name("e.1", "e.4", "e.0", "e.3", "e.2")
    assert (path, label) == ("e.0-4", "e.0 … e.4")
    assert labels == ["e.1", "e.4", "e.0", "e.3", "e.2"]
    assert name("up.3", "up.2", "up.1")[1] == "up.3 … up.1"  # as what is decoded
    assert name("e.1", "x", "e.0")[1] == "e.1 … e.0"


def test_a_block_of_several_tells_all_of_them() -> None:
    path, label, labels = name("a.0, A.1", "a.2, A.3", "a.4, A.5")
    assert (path, label) == ("a.0-5", "a.0–1 … a.4–5")
    assert labels == ["a.0–1", "a.2–3", "a.4–5"]


def test_a_block_is_called_after_its_largest_member() -> None:
    path, label, labels = name("up.0, LAYER.0, head.0", "up.1, LAYER.1, head.1")
    assert (path, label, labels) == ("layer.0-1", "layer.0 … layer.1", ["layer.0", "layer.1"])


def test_what_is_collapsed_at_one_end_only_has_its_outer_name() -> None:
    assert name("7 / block", "8", "9")[:2] == ("7-9", "7 … 9")
    assert name("7 / block", "8 / block")[:2] == ("block-block", "7 / block … 8 / block")


def test_names_without_a_number_at_the_end_are_written_out() -> None:
    assert name("up.0.conv", "up.1.conv")[:2] == ("up.0.conv-up.1.conv", "up.0.conv … up.1.conv")
    assert name("cell", "cell_1", "cell_2")[:2] == ("cell-cell_2", "cell … cell_2")


def test_numbers_that_are_no_digits_for_python_are_kept() -> None:
    assert name("a²", "a³")[:2] == ("a²-a³", "a² … a³")


def test_a_block_of_several_modules_is_called_after_each_that_has_many_layers() -> None:
    counts = {"attn.3": 4, "mlp.6": 2, "mlp.7": 2}
    assert name_several(counts, "attn.3") == ("attn, mlp", ["attn.3", "mlp.6", "mlp.7"])
    calls = {"lstm_5": 1, "mean.1_5": 1, "deviation_5": 1}
    assert name_several(calls, "lstm_5")[0] == "lstm, mean, deviation"


def test_a_block_of_nearly_one_module_keeps_its_name() -> None:
    assert name_several({"attn.3": 12, "proj.3": 1}, "attn.3") == ("", [])
    assert name_several({"attn.3": 0, "norm.3": 0}, "attn.3") == ("", [])


def test_the_largest_member_gives_no_name_to_layers_of_another_one() -> None:
    assert name_several({"norms": 0, "conv1": 1, "conv2": 1}, "norms")[0] == "conv1, conv2"


def test_numbers_that_differ_in_each_block_are_no_part_of_the_name() -> None:
    assert join_several("up3, down3", "up2, down2") == "up, down"
    assert join_several("lstm, w2", "lstm, w2") == "lstm, w2"
    assert join_several("conv1, conv2", "conv3, conv4") == "conv1, conv2"


def test_what_has_no_name_or_too_many_is_not_called_after_all() -> None:
    assert name_several({"attn.3": 4, "": 2}, "attn.3") == ("", [])
    assert name_several({"a": 1, "b": 1, "c": 1, "d": 1}, "a") == ("", [])
