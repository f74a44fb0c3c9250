"""``mustlink cluster --save-model`` and ``mustlink predict``."""

from __future__ import annotations

import pytest

pytest.importorskip("skops")

CLUSTER = ("cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--method", "pck")


def test_new_rows_get_the_clusters_of_the_model(shop):
    result = shop.run(*CLUSTER, "--save-model", "shop.model")
    assert result.exit_code == 0, result.output
    assert "Model written to shop.model" in result.stdout
    clusters = dict(line.split(",") for line in shop.read("shop.clusters.csv").splitlines()[1:])
    lines = shop.read("shop.csv").splitlines()
    shop.write("new.csv", "\n".join([lines[0], *lines[4:7]]) + "\n")
    result = shop.run("predict", "shop.model", "new.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("3 rows in the 3 clusters of a model of 30 rows.\n")
    assert "Clusters written to new.clusters.csv" in result.stdout
    expected = "".join(f"{who},{clusters[who]}\n" for who in ("c03", "c04", "c05"))
    assert shop.read("new.clusters.csv") == "who,cluster\n" + expected


def test_notes_are_printed(shop):
    shop.run(*CLUSTER, "--save-model", "shop.model")
    shop.write("new.csv", "basket,visits,plan,more\n1,2,gold,5\n")
    result = shop.run("predict", "shop.model", "new.csv")
    assert "1 row in the 3 clusters" in result.stdout
    assert "The table has no id column 'who'" in result.stdout
    assert "Column 'more' is not in the model and was not used." in result.stdout
    assert "Column 'plan' has 1 cell with a category that the model does not know, such as 'gold'" in result.stdout


def test_dates_and_how_the_file_is_written(desk):
    rows = [f"{row % 9 + 1:02}.03.{2010 if row % 2 else 2024};{row % 2 + 1}.{row:03},5" for row in range(20)]
    desk.write("t.csv", "\n".join(["seit;n", *rows]))
    assert desk.run("cluster", "t.csv", "-k", 2, "--method", "pck", "--save-model", "m.model").exit_code == 0
    desk.write("new.csv", "seit#n\n05.03.2010#1.010\n05.03.2024#1.010\n".encode("utf-16-le"))
    words = ["predict", "m.model", "new.csv", "--encoding", "utf-16-le", "--delimiter", "#", "--decimal", ","]
    result = desk.run(*words)
    assert result.exit_code == 0, result.output
    desk.write("new.csv", "seit;n\n19783;0,5\n19784;0,6\n")
    sentence = "the column 'seit' holds numbers, and held dates in the table that the model was made from."
    assert sentence in desk.fails("predict", "m.model", "new.csv")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("predict", "shop.csv", "shop.csv"), "shop.csv is not a model that mustlink saved."),
        (("predict", "no.model", "shop.csv"), "There is no file no.model."),
        (("predict", "shop.model", "links.csv"), "links.csv has no columns 'visits', 'basket', 'plan'; its"),
        (("predict", "shop.model", "shop.csv", "-o", "shop.model"), "shop.model is an input and would be overwritten"),
        (("predict", "shop.model", "gaps.csv"), "'visits' is empty; fill it, or use --missing drop or --missing mean."),
        ((*CLUSTER[:-1], "linkage", "--save-model", "x.model"), "linkage cannot predict new rows, so that no model"),
        ((*CLUSTER, "--save-model", "no/x.model"), "The folder to write into does not exist: no."),
        ((*CLUSTER, "--save-model", "shop.csv"), "shop.csv is an input and would be overwritten"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(shop, words, sentence):
    shop.run(*CLUSTER, "--save-model", "shop.model", "-o", "shop.clusters.csv")
    shop.write("gaps.csv", "who,visits,basket,plan\na,,1,a\n")
    assert sentence in shop.fails(*words)


def test_dates_and_decimal_commas_from_file_to_model_to_file(shop):
    lines = [
        f"k{row:02d};{row % 3 * 1000 + row},5;{1 + row % 28}.{1 + row % 3 * 5}.2024;{'ü' if row % 2 else 'o'}"
        for row in range(30)
    ]
    shop.write("old.csv", ("kunde;umsatz;seit;art\r\n" + "\r\n".join(lines) + "\r\n").encode("cp1252"))
    options = ["-k", 3, "--id", "kunde", "--method", "pck", "--keep-columns", "-o"]
    result = shop.run("cluster", "old.csv", *options, "out.csv", "--save-model", "m.model")
    assert result.exit_code == 0, result.output
    result = shop.run("predict", "m.model", "old.csv", "--keep-columns", "-o", "again.csv", "--encoding", "cp1252")
    assert result.exit_code == 0, result.output
    written = (shop.folder / "out.csv").read_bytes()
    assert written == (shop.folder / "again.csv").read_bytes()
    assert written.decode("cp1252").startswith("kunde;umsatz;seit;art;cluster\r\nk00;0,5;1.1.2024;o;")
    result = shop.run("explain", "out.csv", "--cluster-column", "cluster", "--id", "kunde", "--decimal", ",")
    assert result.exit_code == 0, result.output
    assert "30 rows in 3 clusters." in result.stdout


def test_a_folder_is_predicted_file_by_file(shop):
    shop.run(*CLUSTER, "--save-model", "shop.model")
    (shop.folder / "parts").mkdir()
    assert "parts is a folder; new rows are read from one file, so predict its files one by one." in shop.fails(
        "predict", "shop.model", "parts"
    )
