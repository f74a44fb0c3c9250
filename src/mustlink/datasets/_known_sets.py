"""The known data sets: descriptions, names on OpenML, subsets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FolderSet:
    """A file ``NAME.csv.gz`` of the data folder."""

    description: str
    openml: str | None = None  # the name of the same set on OpenML, if it is there


@dataclass(frozen=True)
class Subset:
    """Some classes, or the first rows of each class, of a set in the data folder."""

    parent: str
    description: str
    classes: tuple[str, ...] = ()  # all, if empty
    rows_per_class: int | None = None


# The function of sklearn.datasets, and a description.
SKLEARN_SETS = {
    "digits": ("load_digits", "Digits as 8 x 8 gray levels (E. Alpaydin, C. Kaynak; UCI 80, test part)."),
    "iris": ("load_iris", "Iris flowers as Fisher measured them (UCI 53)."),
    "wdbc": ("load_breast_cancer", "Breast cancer, 30 measures of cell nuclei (W. Wolberg et al.; UCI 17)."),
    "wine": ("load_wine", "Wines of three growers by chemistry (M. Forina et al.; UCI 109)."),
}

_NEWS_HEADER = (
    "The header of a message names its group: keep text.partition('\\n\\n')[2], what follows the first empty line."
)

FOLDER_SETS = {
    "adult": FolderSet(
        "Census records, training part; income above 50K or not (R. Kohavi, B. Becker; UCI 2).", "adult"
    ),
    "adult_test": FolderSet("Census records, test part (R. Kohavi, B. Becker; UCI 2)."),
    "balance": FolderSet(
        "Balance scale: the side that goes down, from two weights and two distances (R. Siegler; UCI 12).",
        "balance-scale",
    ),
    "bicat_genes": FolderSet("Gene expression under 70 conditions, without classes (example data of BicAT)."),
    "breast_w": FolderSet("Breast cancer, nine cell ratings from 1 to 10 (W. Wolberg; UCI 15).", "breast-w"),
    "citeseer_refs": FolderSet(
        "Author references of CiteSeer with the true author (Giles et al.; cleaned by Bhattacharya and Getoor 2005)."
    ),
    "cora_graph": FolderSet(
        "Papers with 0/1 words and their topic; row numbers are the nodes of cora_graph_edges (Sen et al. 2008)."
    ),
    "cora_graph_edges": FolderSet("Citations between the rows of cora_graph, each once (Sen et al. 2008)."),
    "cora_refs": FolderSet("Citation records with the paper they refer to (A. McCallum)."),
    "ecoli": FolderSet("Localization sites of E. coli proteins (K. Nakai, P. Horton; UCI 39).", "ecoli"),
    "glass": FolderSet("Types of glass by oxide content and refractive index (B. German; UCI 42).", "glass"),
    "han_names": FolderSet("References of three ambiguous author names in DBLP (Han, Zha, Giles 2005)."),
    "ionosphere": FolderSet("Radar returns, good or bad (V. Sigillito; UCI 52).", "ionosphere"),
    "iris": FolderSet(
        "Iris flowers as distributed by UCI; rows 34 and 37, counted from 0, differ from Fisher's (UCI 53).", "iris"
    ),
    "mnist2000": FolderSet("200 images of each digit from the test part of MNIST, 28 x 28 (LeCun, Cortes, Burges)."),
    "mushroom": FolderSet("Mushrooms, edible or poisonous (J. Schlimmer; UCI 73).", "mushroom"),
    "news_mini": FolderSet(f"100 messages from each of 20 newsgroups (K. Lang, T. Mitchell; UCI 113). {_NEWS_HEADER}"),
    "news_w100": FolderSet("Newsgroup messages by the presence of 100 words (S. Roweis)."),
    "parkinsons": FolderSet(
        "Voice measures of people with and without Parkinson's (M. Little; UCI 174).", "parkinsons"
    ),
    "pendigits": FolderSet(
        "Digits written with a pen, eight points each (E. Alpaydin, F. Alimoglu; UCI 81).", "pendigits"
    ),
    "pima": FolderSet("Diabetes among Pima women (V. Sigillito).", "diabetes"),
    "segment": FolderSet("Regions of seven outdoor images (Vision Group, U. Massachusetts; UCI 50).", "segment"),
    "segment210": FolderSet("The first 210 rows of segment, its training part (UCI 50)."),
    "semeion": FolderSet("Digits as 16 x 16 black and white pixels (Tactile Srl; UCI 178).", "semeion"),
    "sonar": FolderSet("Sonar echoes of mines and rocks (R. P. Gorman, T. Sejnowski; UCI 151).", "sonar"),
    "soybean": FolderSet("Soybean diseases, nominal values (R. Michalski, R. Chilausky; UCI 90).", "soybean"),
    "soybean_small": FolderSet("Four soybean diseases, coded nominal values (R. Michalski; UCI 91)."),
    "spect": FolderSet("Heart images as 22 yes/no features (L. Kurgan, K. Cios; UCI 95)."),
    "usps": FolderSet("Digits of the US Postal Service, 16 x 16 gray levels (LeCun et al. 1990)."),
    # On OpenML it has three more columns: the speaker, the sex of the speaker and the part.
    "vowel": FolderSet("Eleven vowels by ten acoustic features (D. Deterding; UCI 152)."),
    "wdbc": FolderSet("Breast cancer, 30 measures of cell nuclei (W. Wolberg et al.; UCI 17).", "wdbc"),
    "wine": FolderSet("Wines of three growers by chemistry (M. Forina et al.; UCI 109).", "wine"),
    "yaleb32": FolderSet("Faces of 38 people under changing light, 32 x 32 (Extended Yale Face Database B)."),
    "yeast_brown": FolderSet("Yeast genes of three functions under 79 conditions (Brown et al. 2000)."),
    "zoo": FolderSet("Animals by 15 yes/no features and the number of legs (R. Forsyth; UCI 111).", "zoo"),
}


def _news(kind: str, *groups: str) -> Subset:
    """Three newsgroups of news_mini."""
    return Subset("news_mini", f"300 messages from three {kind} newsgroups of news_mini. {_NEWS_HEADER}", groups)


SUBSETS = {
    "news_different": _news("different", "alt.atheism", "rec.sport.baseball", "sci.space"),
    "news_related": _news("related", "talk.politics.misc", "talk.politics.guns", "talk.politics.mideast"),
    "news_similar": _news("similar", "comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"),
    "pendigits0689": Subset(
        "pendigits", "The first 750 rows of the digits 0, 6, 8 and 9 of pendigits.", ("0", "6", "8", "9"), 750
    ),
    "pendigits3689": Subset("pendigits", "Digits 3, 6, 8 and 9 of pendigits.", ("3", "6", "8", "9")),
    "pendigits389": Subset("pendigits", "Digits 3, 8 and 9 of pendigits.", ("3", "8", "9")),
    "usps4000": Subset("usps", "The first 400 rows of each digit of usps.", rows_per_class=400),
    "yaleb10": Subset("yaleb32", "The first ten people of yaleb32.", tuple(str(person) for person in range(1, 11))),
}
