"""What repeats and their blocks are called: from the first to the last, in order and exactly."""

from __future__ import annotations

from netloupe.explorer.grouping.repeat_names import Member, name_repeat


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
