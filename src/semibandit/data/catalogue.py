"""The named data sets: where they are, and what has been published about them.

All nine are conversions of the Mulan repository's files, kept as members of one source package.
The statistics are Mulan's, as the literature quotes them. The members hold the same n, d and K, and
the same cardinality and density to the three digits given, but for one: emotions has 1108 relevant
labels in 593 rows, 1.8685, quoted as 1.869. (The Extreme Classification Repository gives the same
n, d and K for mediamill, bibtex and delicious, but 19.03 labels a row for delicious; the members
have 19.020.)

Worth knowing before replaying: enron has 8 rows without any feature (6 of them for training) and
tmc2007-500 has 16 (11), so contexts need a bias; mediamill has 1,730 rows without any label,
delicious 14.
"""

from __future__ import annotations

from dataclasses import dataclass

from semibandit._util.checks import nearest
from semibandit.errors import InputError

__all__ = ["SOURCE", "CatalogueEntry", "Member", "PackageFile", "SourcePackage"]


@dataclass(frozen=True)
class Member:
    """A file inside the archive of the source package, and the sha256 that it must have."""

    path: str
    sha256: str


@dataclass(frozen=True)
class CatalogueEntry:
    """A data set that is known by name: its published statistics and its two files.

    Parameters
    ----------
    name : str
        The name, in lower case.
    about : str
        What the rows are, and what the labels are.
    n_train, n_test, d, K : int
        Rows for training and for testing, features, and labels.
    cardinality, density : float
        Relevant labels per row on average, and the same divided by K.
    train, test : Member
        Its files in the source package.
    """

    name: str
    about: str
    n_train: int
    n_test: int
    d: int
    K: int
    cardinality: float
    density: float
    train: Member
    test: Member


@dataclass(frozen=True)
class PackageFile:
    """A file of a package on the package index.

    Parameters
    ----------
    package, version : str
        The requirement: package==version.
    filename, sha256 : str
        The file's name, and the checksum that it must have.
    """

    package: str
    version: str
    filename: str
    sha256: str

    @property
    def title(self) -> str:
        """The package and its version, for people to read."""
        return f"{self.package} {self.version}"


@dataclass(frozen=True)
class SourcePackage(PackageFile):
    """A source package on the package index, and the data sets in it.

    Parameters
    ----------
    package, version, filename, sha256 : str
        As for `PackageFile`.
    sets : tuple of CatalogueEntry
        The data sets, in the order in which they are listed.
    """

    sets: tuple[CatalogueEntry, ...]

    @property
    def names(self) -> list[str]:
        """The names of the data sets."""
        return [entry.name for entry in self.sets]

    def entry(self, name: str) -> CatalogueEntry:
        """Look up a data set by its name, in upper or lower case.

        Raises
        ------
        InputError
            If no data set has this name; the text has the nearest one.

        Examples
        --------
        >>> SOURCE.entry("Yeast").K
        14
        """
        for entry in self.sets:
            if entry.name == name.lower():
                return entry
        suggestion = nearest(name.lower(), self.names)
        raise InputError(
            f"no data set is called {name!r}; there are {', '.join(self.names)}{suggestion}"
        )


def _entry(
    name: str,
    about: str,
    shape: tuple[int, int, int, int],
    labels: tuple[float, float],
    sha256: tuple[str, str],
    member: str = "",
) -> CatalogueEntry:
    stem = f"skmultilearn/data/{member or name}"
    train, test = (
        Member(f"{stem}-{part}.dump.bz2", digest)
        for part, digest in zip(("train", "test"), sha256, strict=True)
    )
    return CatalogueEntry(name, about, *shape, *labels, train, test)


SOURCE = SourcePackage(
    package="scikit-multilearn",
    version="0.0.1",
    filename="scikit-multilearn-0.0.1.tar.gz",
    sha256="ac30a342595481f46db77f5334c3a1e2d8261f4adbd104e3444f801c3c89b6a0",
    sets=(
        # name, what it is, (n_train, n_test, d, K), (cardinality, density), sha256 of both members
        _entry(
            "mediamill",
            "video shots, visual features; concepts seen",
            (30993, 12914, 120, 101),
            (4.376, 0.043),
            (
                "a8cecbf5b6c3cf2de9b12524939e966d07ae320ce849e935c4ed9b970c57a49a",
                "651668b891dc5c7e42b1e9a1db28a04011a88414c1c6e91a6b01c343a8a2d5c3",
            ),
        ),
        _entry(
            "yeast",
            "genes, expression profiles; functional classes",
            (1500, 917, 103, 14),
            (4.237, 0.303),
            (
                "1a448f0cf72a01c8173c004f088c5a768af2ae5ba92497846df34ff6490f4f13",
                "71b014c4095714af833ca6c70b76a6ec0cdd3182931a206e84e1d0ebb133e84f",
            ),
        ),
        _entry(
            "scene",
            "photographs, colour moments; kinds of scene",
            (1211, 1196, 294, 6),
            (1.074, 0.179),
            (
                "0374d88da2625fdae0a233cfd734762950f87c89cdcf982d364caf47c18ffdcd",
                "741914af229dc2378e1d5f57442b50862d52469cee57efb7308e7576ab57c7f9",
            ),
        ),
        _entry(
            "emotions",
            "music, rhythm and timbre; moods",
            (391, 202, 72, 6),
            (1.869, 0.311),
            (
                "5aeead98f63825074021883dcb4a16d6d96e3f13e535448323a09bf76bc77e89",
                "d84af74a2dbd457e0249d91828da017af6bc83cef1d0e9080b99e8b9384dd2ca",
            ),
        ),
        _entry(
            "delicious",
            "web pages, words; users' tags",
            (12920, 3185, 500, 983),
            (19.02, 0.019),
            (
                "8f91e09a0555c2d600fd7b7092830135466c97b19f6989c38cfb0eb7f52e6727",
                "9a8af0f3cd4788a16cf59afaea92387313ba3cf7402a5f39d285c7d4e550bedd",
            ),
        ),
        _entry(
            "bibtex",
            "references, words; users' tags",
            (4880, 2515, 1836, 159),
            (2.402, 0.015),
            (
                "d9d6cc9755ec6cab851df0c3d71058603bc146f8aaecee6e1a6af3319dd3a172",
                "1aa9347b8ffbe0b37461654c750191b50ed3466407d53cfb1e9736734bc019f4",
            ),
        ),
        _entry(
            "enron",
            "e-mails, words; topics",
            (1123, 579, 1001, 53),
            (3.378, 0.064),
            (
                "7ebcaeffefab9f9a168922fe1be9c63456cd8a878e3c137a38ef14f1fb533d48",
                "6924e3c9e1513e6e00960717b49d08e53b79ce8d758e8402e8bfabc1d268013e",
            ),
        ),
        _entry(
            "tmc2007-500",
            "flight safety reports, words; problems",
            (21519, 7077, 500, 22),
            (2.22, 0.101),
            (
                "5be333dc2c5abe58bb6569b42dd2ebc21b40b60a5fa4e53cba6f85e3afa01322",
                "33288f3f5c5589ecd6588479764bd83be14c5e08fa5f27429136e7fb0cf5a039",
            ),
        ),
        _entry(
            "corel5k",
            "photographs, segments; keywords",
            (4500, 500, 499, 374),
            (3.522, 0.009),
            (
                "7cc6a20af12d8e3ff16c36045840ca031276f2c90d7de6d3ef0a75a7376c5b40",
                "82a894ecb087944463482c84b8a4f0fdbddc160b7b777f67ac1700c2e07212c0",
            ),
            member="Corel5k",
        ),
    ),
)
