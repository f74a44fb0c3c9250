"""Jobs that publish tables and check published files, from Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mustlink.errors import FileFormatError, OptionError
from mustlink.report import render_publication
from mustlink.workflow import PublicationJob, VerificationJob, run_publication, run_verification

ASKED = {"quasi_identifiers": ["age", "city"], "sensitive": "illness", "k": 3, "l": 2}


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, 30),
            "city": rng.choice(["Bern", "<b>Jena</b>"], 30),
            "illness": rng.choice(["007", "1.50", "x"], 30),
            "note": "free",
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_every_format_is_written_and_checked(people, suffix):
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    output = people / f"out{suffix}"
    result = run_publication(PublicationJob(people / "people.csv", output=output, **ASKED))
    found = run_verification(VerificationJob(output, **ASKED))
    assert found.passed
    assert found.n_groups == result.publication.n_groups
    assert found.n_rows == 30


def test_sensitive_cells_stay_as_they_were_written(people):
    run_publication(PublicationJob(people / "people.csv", output=people / "out.csv", **ASKED))
    written = (people / "people.csv").read_text().splitlines()
    published = (people / "out.csv").read_text().splitlines()
    assert [line.rsplit(",", 1)[1] for line in published] == [line.split(",")[2] for line in written]
    assert {line.rsplit(",", 1)[1] for line in published[1:]} == {"007", "1.50", "x"}


def test_one_name_is_one_column(people):
    named = {"quasi_identifiers": "age", "k": 3}
    job = PublicationJob(people / "people.csv", output=people / "out.csv", keep="note", **named)
    result = run_publication(job)
    assert list(result.publication.frame) == ["age", "note"]
    assert run_verification(VerificationJob(people / "out.csv", **named)).passed
    listed = PublicationJob(people / "people.csv", quasi_identifiers=["age"], k=3, keep=["note"])
    pd.testing.assert_frame_equal(run_publication(listed).publication.frame, result.publication.frame)


def test_nothing_is_written_without_a_file(people):
    result = run_publication(PublicationJob(people / "people.csv", **ASKED))
    assert [path.name for path in people.iterdir()] == ["people.csv"]
    assert result.notices == ("Not published: the column note.",)


def test_a_report_escapes_what_a_table_holds(people):
    report = people / "r.html"
    run_publication(PublicationJob(people / "people.csv", report=report, **ASKED), command="mustlink publish")
    page = report.read_text(encoding="utf-8")
    assert "&lt;b&gt;Jena" in page
    assert "<b>Jena" not in page
    assert "not differential privacy" in page


def test_many_sizes_are_shown_in_ranges(people):
    result = run_publication(PublicationJob(people / "people.csv", quasi_identifiers=["age"], k=1)).publication
    sizes = np.repeat(np.arange(40), np.arange(1, 41))
    page = render_publication(type(result)(**{**vars(result), "groups": sizes}))
    assert "1 to 4" in page
    assert "37 to 40" in page
    assert page.count("drawn") >= 10


def test_bad_jobs_are_refused(people):
    with pytest.raises(OptionError, match="No quasi-identifier"):
        PublicationJob(people / "people.csv", quasi_identifiers=[])
    with pytest.raises(OptionError, match="random_state must be from 0"):
        PublicationJob(people / "people.csv", quasi_identifiers=["age"], random_state=-1)
    with pytest.raises(FileFormatError, match="has no column 'zip'"):
        run_verification(VerificationJob(people / "people.csv", quasi_identifiers=["zip"]))
    with pytest.raises(OptionError, match="no sensitive column is named; name it with sensitive"):
        run_verification(VerificationJob(people / "people.csv", quasi_identifiers=["age"], l=2))


def test_codes_with_leading_zeros_stay_as_they_are_written(tmp_path):
    codes = [f"{code:05}" for code in (4103, 1069, 10117, 1067, 80331)] * 8
    # Zeros only in later cells than are looked at first.
    codes = sorted(codes, reverse=True)
    lines = [f"{code};{20 + row}" for row, code in enumerate(codes)]
    (tmp_path / "t.csv").write_text("\n".join(["plz;alter", *lines]) + "\n")
    asked = {"quasi_identifiers": ["plz", "alter"], "k": 5}
    result = run_publication(PublicationJob(tmp_path / "t.csv", output=tmp_path / "out.csv", **asked))
    assert "The column plz has leading zeros and was taken as codes in their sorted order." in result.notices
    for code, line in zip(codes, (tmp_path / "out.csv").read_text().splitlines()[1:], strict=True):
        ends = line.split(";")[0].split(" to ")
        assert all(len(end) == 5 for end in ends)
        assert ends[0] <= code <= ends[-1]
    assert run_verification(VerificationJob(tmp_path / "out.csv", **asked)).passed
    categories = run_publication(PublicationJob(tmp_path / "t.csv", categorical=["plz"], **asked))
    assert not any("leading zeros" in notice for notice in categories.notices)


def test_the_line_of_the_first_missing_cell_is_named(people):
    written = (people / "people.csv").read_text().splitlines()
    written[7] = "," + written[7].split(",", 1)[1]
    (people / "people.csv").write_text("\n".join(written) + "\n")
    words = r"people\.csv: 1 of 30 rows has a missing cell in the column 'age', in line 8; fill"
    with pytest.raises(OptionError, match=words):
        run_publication(PublicationJob(people / "people.csv", **ASKED))
