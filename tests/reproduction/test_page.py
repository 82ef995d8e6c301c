"""The results page: what it shows of recorded and published results."""

from pathlib import Path

import pytest
from reproduction.recorded import PUBLISHED, record

from nary.errors import DataError
from nary.reproduction.experiments import find_experiment
from nary.reproduction.page import results_page
from nary.reproduction.published import read_published
from nary.reproduction.records import read_result_rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "published.toml").write_text(PUBLISHED)
    return tmp_path


def line_of(page: str, name: str) -> list[str]:
    """The cells of the first row called ``name``."""
    line = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_curve_has_a_section_of_its_own(folder: Path) -> None:
    assert "Partial context" not in results_page(folder)
    points = {f"{group}[given={level}]": {"mrr": 0.5} for group in ("object", "entity") for level in (0, 1, 2, "all")}
    figures = {"mrr": 0.4, "hits@1": 0.3, "hits@10": 0.6}
    record(folder, "gran-hete", 0.4, dataset="nobel", metrics={"entity": figures, **points})
    page = results_page(folder)
    section = page[page.index("## Partial context") :]
    assert line_of(section, "`gran/nobel`")[1:9] == ["0.500"] * 8
    record(folder, "gran-hete", 0.4, dataset="nobel", seed=1, metrics={"entity": figures, **points})
    assert line_of(results_page(folder)[page.index("## Partial context") :], "`gran/nobel`")[1] == "0.500 ± 0.000"


def test_seeds_make_one_row_beside_the_published_figures(folder: Path) -> None:
    record(folder, "gran-hete-fast", 0.80)
    record(folder, "gran-hete-fast", 0.82, seed=1, seconds=120.0)
    page = results_page(folder)
    assert line_of(page, "`gran/jf17k-4-fast`") == [
        *("`gran/jf17k-4-fast`", "0.810 ± 0.014", "0.760 ± 0.014", "0.860 ± 0.014"),
        *("0.850", "0.800", "0.930", "paper", "−0.040", "2", "A", "90"),
        " ".join(f"[{seed}]({folder.name}/jf17k-4/gran-hete-fast-seed{seed}.json)" for seed in (0, 1)),
    ]
    assert "- `gran/jf17k-4-fast`, −0.040: it is small." in page
    assert "- A: filter slots, filter_splits train test." in page
    assert "- paper: A paper." in page


def test_the_first_table_has_the_best_of_ours_and_the_best_published(folder: Path) -> None:
    record(folder, "gran-hete-fast", 0.80, seconds=1700.0)
    record(folder, "gran-hete", 0.84, seconds=4000.0)
    record(folder, "gran-homo", 0.9)  # an ablation
    before = results_page(folder).split("## How to read")[0]
    expected = ["jf17k-4", "entity", "0.800", "**0.840**", "`gran/jf17k-4`", "train", "67", "0.850", "gran-hete"]
    assert line_of(before, "jf17k-4") == expected
    with (folder / "published.toml").open("a") as file:
        file.write('[[best]]\ndataset = "jf17k-4"\ngroup = "entity"\nsystem = "Newer"\nmrr = 0.9\n')
    record(folder, "gran-hete-30m", 0.83, seconds=9000.0)  # on a busy machine
    assert line_of(results_page(folder), "jf17k-4")[2:4] == ["0.830", "**0.840**"]
    record(folder, "blend", 0.91, seconds=None)
    line = line_of(results_page(folder), "jf17k-4")
    assert line[2:] == ["0.910", "**0.910**", "`blend/jf17k-4`, a blend", "train*", "–", "0.900", "Newer"]


def test_a_large_difference_without_a_note_says_so_and_a_small_one_nothing(folder: Path) -> None:
    record(folder, "gran-hete", 0.80)
    record(folder, "getd", 0.80)
    page = results_page(folder)
    assert "- `gran/jf17k-4`, −0.050: not explained yet." in page
    assert "- `getd/jf17k-4`" not in page
    assert "- getd, published: an estimate." in page


def test_rows_stand_in_the_order_of_their_figures_and_published_ones_among_them(folder: Path) -> None:
    record(folder, "gran-hete", 0.82)
    record(folder, "ram", 0.70)
    page = results_page(folder)
    places = [page.index(f"| {name} ") for name in ("`gran/jf17k-4`", "*getd*", "`ram/jf17k-4`")]
    assert places == sorted(places)
    assert line_of(page, "*getd*")[1:8] == ["–", "–", "–", "0.810", "–", "0.910", "paper"]
    assert "gran-homo" not in page  # ablations have a table of their own


def test_ablations_stand_beside_the_whole_system(folder: Path) -> None:
    record(folder, "gran-hete", 0.82)
    record(folder, "gran-homo", 0.81)
    before, ablations = results_page(folder).split("## Ablations")
    comparisons = before.split("## By arity")[0]
    assert "`gran/jf17k-4`" in comparisons
    assert "gran-homo" not in comparisons
    assert line_of(ablations, "`gran-homo/jf17k-4`")[8] == "−0.030"
    assert line_of(ablations, "`gran/jf17k-4`")[1] == "0.820"
    assert "getd" not in ablations.split("## Protocols")[0]


def test_without_qualifiers_it_is_another_system(folder: Path) -> None:
    triples = {"data": {"name": "jf17k-4", "qualifiers": False}}
    figures = {"mrr": 0.5, "hits@1": 0.4, "hits@10": 0.6}
    record(
        folder, "gran-hete-triples", 0.5, recipe=triples, metrics=dict.fromkeys(["entity", "subject/object"], figures)
    )
    before, ablations = results_page(folder).split("## Ablations")
    assert "gran-triples/jf17k-4" not in before.split("## By arity")[0]
    assert line_of(ablations, "`gran-triples/jf17k-4` †")[4] == ""  # the published figure is not for triples
    assert "### jf17k-4, subject/object" in ablations  # which is what can be compared with them


def test_who_answers_for_a_part_of_the_entities_is_not_beside_the_others(folder: Path) -> None:
    figures = {"mrr": 0.5, "hits@1": 0.4, "hits@10": 0.6}
    record(folder, "gran-hete", 0.82, metrics={"entity": {**figures, "count": 40}})
    record(folder, "ram", 0.9, metrics={"entity": {**figures, "count": 20}})
    comparisons = results_page(folder).split("## By arity")[0]
    assert "`gran/jf17k-4`" in comparisons
    assert "`ram/jf17k-4`" not in comparisons


def test_other_protocols_have_other_letters(folder: Path) -> None:
    record(folder, "gran-hete", 0.82)
    record(folder, "ram", 0.70, protocol={"filter": "none"})
    page = results_page(folder)
    assert (line_of(page, "`gran/jf17k-4`")[10], line_of(page, "`ram/jf17k-4`")[10]) == ("A", "B")
    assert "- B: filter none." in page


def test_the_letter_tells_the_training_splits(folder: Path) -> None:
    record(folder, "gran-hete", 0.82, trained_on=["train", "valid"])
    record(folder, "ram", 0.70)
    page = results_page(folder)
    assert (line_of(page, "`gran/jf17k-4`")[10], line_of(page, "`ram/jf17k-4`")[10]) == ("A", "B")
    assert "filter_splits train test. Trained on train+valid." in page


def test_what_was_not_ranked_on_test_is_no_result(folder: Path) -> None:
    record(folder, "gran-hete", 0.82, split="valid")
    assert not read_result_rows(folder)
    assert "Nothing recorded yet. Run `nary reproduce single-arity`." in results_page(folder)


def test_settings_changed_one_at_a_time_stand_beside_the_whole_recipe(folder: Path) -> None:
    tables = find_experiment("gran/jf17k-4").recipe.as_tables()
    deeper = {**tables, "model": {**tables["model"], "num_layers": 24}}
    again = {**deeper, "training": {**tables["training"], "seed": 1}}
    record(folder, "gran-hete-tried", 0.60, split="valid", recipe=tables)
    record(folder, "gran-hete-tried,model.num_layers=24", 0.62, split="valid", recipe=deeper)
    record(folder, "gran-hete-tried,model.num_layers=24", 0.63, split="valid", recipe=again, seed=1)
    record(folder, "getd-tried,training.epochs=3", 0.50, split="valid")  # changed from what?
    _, page = results_page(folder).split("### jf17k-4, gran, 160 epochs")
    assert line_of(page, "`num_layers = 24`")[1:5] == ["0.625 ± 0.007", "0.575 ± 0.007", "0.675 ± 0.007", "+0.025"]
    assert line_of(page, "**nothing**")[1:5] == ["0.600", "0.550", "0.650", ""]
    assert page.index("`num_layers = 24`") < page.index("**nothing**")
    assert "epochs = 3" not in page


def test_a_setting_that_is_younger_than_a_result_is_none_that_was_changed(folder: Path) -> None:
    tables = find_experiment("gran/jf17k-4").recipe.as_tables()
    older = {key: value for key, value in tables["training"].items() if key != "entity_lr_scale"}
    record(folder, "gran-hete-tried", 0.60, split="valid", recipe={**tables, "training": older})
    deeper = {**tables, "model": {**tables["model"], "num_layers": 24}}
    record(folder, "gran-hete-tried,model.num_layers=24", 0.62, split="valid", recipe=deeper)
    page = results_page(folder)
    assert line_of(page, "`num_layers = 24`")[4] == "+0.020"
    assert "entity_lr_scale" not in page


def test_results_with_other_settings_than_the_recipe_are_marked_and_not_mixed_with_others(folder: Path) -> None:
    tables = find_experiment("gran/jf17k-4").recipe.as_tables()
    record(folder, "gran-hete", 0.80)
    record(folder, "gran-hete", 0.60, seed=1, recipe={**tables, "training": {**tables["training"], "epochs": 1}})
    page = results_page(folder)
    assert (line_of(page, "`gran/jf17k-4`")[1], line_of(page, "`gran/jf17k-4`")[9]) == ("0.800", "1")
    assert line_of(page, "`gran/jf17k-4` †")[1] == "0.600"


def test_any_dataset_has_a_table(folder: Path) -> None:
    record(folder, "gran-hete", 0.5, dataset="mine")
    others = results_page(folder).split("## Entities, other datasets")[1]
    assert line_of(others, "`gran-hete/mine`")[1] == "0.500"


@pytest.mark.parametrize(
    "text",
    [
        '[[figure]]\ndataset = "d"\ngroup = "g"\nsource = "s"\n',
        '[[figure]]\ndataset = "d"\ngroup = "g"\nsource = "s"\nof.a = [1, 2, 3, 4]\n',
        '[[figure]]\ndataset = "d"\ngroup = "g"\nsource = "s"\nof.a = 0.5\n',
        '[[figure]]\ndataset = "d"\ngroup = "g"\nsource = "s"\nof.a = [0.5]\n' * 2,
    ],
)
def test_malformed_published_results_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "published.toml").write_text(text)
    with pytest.raises(DataError):
        read_published(tmp_path)


def test_all_systems_stand_in_one_table_with_their_size_and_time(folder: Path) -> None:
    record(folder, "ram", 0.70, parameters=1_250_000)
    record(folder, "ram", 0.90, dataset="nobel")
    record(folder, "gran-hete", 0.82, seconds=None)
    record(folder, "gran-hete-fast", 0.80, seconds=1200.0)
    record(folder, "gran-homo", 0.81)
    page = results_page(folder)
    table = page.split("## All systems")[1].split("## ")[0]
    assert "| system | jf17k-4 | nobel |" in table
    assert line_of(table, "ram")[1:] == ["**0.700** (0.650, 0.750), 1.2 M, 60 s", "**0.900** (0.850, 0.950), 60 s"]
    assert line_of(table, "gran-hete")[1].split("<br>") == [
        "**0.800** (0.750, 0.850), 1,200 s, `gran/jf17k-4-fast`",
        "**0.820** (0.770, 0.870), `gran/jf17k-4`",
    ]
    assert table.index("| gran-hete |") < table.index("| ram |")  # by the best on the first dataset
    assert "gran-homo" not in table


def test_without_results_on_its_datasets_there_is_no_table_of_all_systems(folder: Path) -> None:
    record(folder, "ram", 0.70, dataset="jf17k")
    assert "All systems" not in results_page(folder)


def test_a_blend_stands_above_its_parts(folder: Path) -> None:
    assert "Parts of blends" not in results_page(folder)
    parts = [
        {"name": "rules", "seconds": 2.4, "valid_mrr": {}, "mrr": {"entity": 0.7}},
        {"name": "gran", "seconds": None, "valid_mrr": {}, "mrr": {"entity": 0.8, "relation": 1.0}},
    ]
    record(folder, "blend", 0.9, dataset="nobel", parts=parts, seconds=75.0)
    page = results_page(folder)
    lines = page[page.index("## Parts of blends") :].splitlines()
    assert lines[5].startswith("| recipe ")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[7:10]]
    assert cells == [
        ["`blend/nobel`", "", "0.900", "", "", "75"],
        ["", "rules", "0.700", "", "", "2"],
        ["", "gran", "0.800", "", "1.000", ""],
    ]
