"""A row for each class, in the order of their numbers, whatever figures each has."""

from __future__ import annotations

from assay.reports.by_class import by_class


def test_figures_of_classes_are_taken_out_of_those_of_the_whole() -> None:
    figures = {
        "mean_iou": 0.5,
        "iou_agreement_class10": 1.0,
        "iou_agreement_class2": 0.75,
        "iou_class2": 0.25,
        "in_class": 3.0,
    }
    whole, names, classes = by_class(figures)
    assert whole == {"mean_iou": 0.5, "in_class": 3.0}
    assert names == ("iou_agreement", "iou")
    assert list(classes.items()) == [(2, {"iou_agreement": 0.75, "iou": 0.25}), (10, {"iou_agreement": 1.0})]


def test_a_task_without_classes_has_no_rows() -> None:
    assert by_class({"top1_accuracy": 1.0}) == ({"top1_accuracy": 1.0}, (), {})


def test_a_figure_of_a_plug_in_stays_where_it_is_and_no_two_numbers_are_one_class() -> None:
    own = {"mine_class5": 1.0, "iou_class01": 2.0}
    assert by_class(own | {"iou_class1": 3.0, "iou_class0": 4.0}) == (own, ("iou",), {0: {"iou": 4.0}, 1: {"iou": 3.0}})
