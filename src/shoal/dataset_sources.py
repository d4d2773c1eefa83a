"""Where the public data sets come from, and how the publishers' files become plain CSV."""

from __future__ import annotations

import csv
import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_SNAP = "https://snap.stanford.edu/data"
_ARX = "https://raw.githubusercontent.com/arx-deidentifier/arx/aacd487fb77b3af7970d5d6fa1b2f6cca1182b64/data"

Rows = Iterable[list[str]]


@dataclass(frozen=True, slots=True)
class Raw:
    """A publisher's file, or members of a publisher's archive.

    Attributes
    ----------
    url : str
    sha256 : str or None
        Of the file as downloaded; None where only the members' checksums are known.
    members : tuple of (path inside the archive, sha256 or None)
        Empty for a file that is no archive.
    """

    url: str
    sha256: str | None
    members: tuple[tuple[str, str | None], ...] = ()

    def parts(self, content: bytes) -> list[tuple[bytes, str | None]]:
        """Return each part of the downloaded file with the checksum it must have."""
        if not self.members:
            return [(content, self.sha256)]
        if self.url.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return [(archive.read(name), sha256) for name, sha256 in self.members]
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            return [(_member(archive, name), sha256) for name, sha256 in self.members]


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    stream = archive.extractfile(name)
    assert stream is not None
    return stream.read()


@dataclass(frozen=True, slots=True)
class Source:
    """One cleaned file.

    Attributes
    ----------
    file : str
        Its name in a data folder.
    sha256 : str
        Of the cleaned file.
    raw : tuple of Raw
        What it is made of; empty when its publisher offers no stable address.
    clean : callable
        From the texts of all parts of `raw` to the cleaned text.
    """

    file: str
    sha256: str
    raw: tuple[Raw, ...] = ()
    clean: Callable[[list[str]], str] | None = None


def _words(text: str) -> list[str]:
    return text.split()


def _csv(rows: Rows) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cells(text: str, delimiter: str = ",") -> list[list[str]]:
    """Return the records of a raw file, without blanks around values, ``?`` and empty lines."""
    rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    return [["" if cell.strip() == "?" else cell.strip() for cell in row] for row in rows if row]


_ADULT = _words(
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country salary-class"
)
_HEART = _words("age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal num")
_BREAST = _words(
    "id clump_thickness cell_size_uniformity cell_shape_uniformity marginal_adhesion "
    "single_epithelial_cell_size bare_nuclei bland_chromatin normal_nucleoli mitoses class"
)
_NUCLEUS = _words(
    "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
)


def clean_adult(parts: list[str]) -> str:
    """Return Adult with a header; the test part loses its first line and the full stop after the class."""
    rows = [row for row in _cells(parts[0]) if len(row) == len(_ADULT)]
    return _csv([_ADULT, *([*row[:-1], row[-1].removesuffix(".")] for row in rows)])


def clean_semicolons(parts: list[str]) -> str:
    """Return a file that has a header, semicolons and quotes as plain CSV."""
    return _csv(csv.reader(io.StringIO(parts[0]), delimiter=";"))


def _heart_rows(text: str) -> list[list[str]]:
    return [[re.sub(r"\.0$", "", cell) for cell in row] for row in _cells(text)]


def clean_heart(parts: list[str]) -> str:
    """Return one clinic's records with a header; whole numbers are written as such."""
    return _csv([_HEART, *_heart_rows(parts[0])])


def clean_hearts(parts: list[str]) -> str:
    """Return all four clinics' records, with the clinic as first column."""
    clinics = ("cleveland", "hungarian", "switzerland", "va")
    named = zip(clinics, parts, strict=True)
    return _csv(
        [["database", *_HEART], *([clinic, *row] for clinic, text in named for row in _heart_rows(text))]
    )


def clean_breast(parts: list[str]) -> str:
    """Return Breast Cancer Wisconsin (original) with a header and its classes in words."""
    words = {"2": "benign", "4": "malignant"}
    return _csv([_BREAST, *([*row[:-1], words[row[-1]]] for row in _cells(parts[0]))])


def clean_wdbc(parts: list[str]) -> str:
    """Return Breast Cancer Wisconsin (diagnostic) with a header and the diagnosis as last column."""
    measures = [f"mean_{name}" for name in _NUCLEUS]
    measures += [f"{name}_error" for name in _NUCLEUS] + [f"worst_{name}" for name in _NUCLEUS]
    rows = ([row[0], *row[2:], row[1]] for row in _cells(parts[0]))
    return _csv([["id", *measures, "diagnosis"], *rows])


def clean_ego_binary(parts: list[str]) -> str:
    """Return an ego network's users as one 0/1 column per feature; `parts` are .feat and .featnames."""
    users, features = _ego(parts)
    header = ["node_id", *(f"{group}={value}" for group, value in features)]
    return _csv([header, *([str(number), *flags] for number, flags in enumerate(users, 1))])


def clean_ego(parts: list[str]) -> str:
    """Return an ego network's users as one column per group of features, several values joined by a bar."""
    users, features = _ego(parts)
    groups = list(dict.fromkeys(group for group, _ in features))
    rows = [["node_id", *groups]]
    for number, flags in enumerate(users, 1):
        have = [feature for feature, flag in zip(features, flags, strict=True) if flag == "1"]
        rows.append([str(number), *("|".join(v for g, v in have if g == group) for group in groups)])
    return _csv(rows)


def _ego(parts: list[str]) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """Return the flags of every user, and every feature as (group, value)."""
    users = [line.split()[1:] for line in parts[0].splitlines()]
    features = []
    for line in parts[1].splitlines():
        group, _, value = line.partition(" ")[2].rpartition(";anonymized feature ")
        features.append((group.replace(";", "."), f"f{value}"))
    return users, features


def clean_hierarchy(parts: list[str]) -> str:
    """Return a hierarchy of ARX with a line end after its last line."""
    return parts[0] if parts[0].endswith("\n") else parts[0] + "\n"


def _uci(path: str, sha256: str | None, *members: tuple[str, str]) -> Raw:
    return Raw(f"{_UCI}/{path}", sha256, members)


_CLINICS = (
    _uci(
        "heart-disease/processed.cleveland.data",
        "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
    ),
    _uci(
        "heart-disease/processed.hungarian.data",
        "d1ad108f785768cd3d7e82dc522e6f5a61eea93cccfb3a46ee8076f73fc3d796",
    ),
    _uci(
        "heart-disease/processed.switzerland.data",
        "834a405ccf5b66ab4056bb77794adc8df0b7125186454c0a1d002d33c6c3b314",
    ),
    _uci(
        "heart-disease/processed.va.data", "e7c93d8d0d2acdadfa4c5e8de768e2191e7f618b952e29623f1f0d5949ff6b8f"
    ),
)
_BANK = "99d7e8eb12401ed278b793984423915411ea8df099e1795f9fefe254f513fe5e"
_EGO0 = Raw(
    f"{_SNAP}/facebook.tar.gz",
    "78594c43169b698e99a77741bc298581af87146e4f3d3e8ad48a48361b5d92b6",
    (("facebook/0.feat", None), ("facebook/0.featnames", None)),
)


def _bank(member: str, sha256: str) -> tuple[Raw, ...]:
    return (_uci("00222/bank.zip", _BANK, (member, sha256)),)


def _student(member: str, sha256: str) -> tuple[Raw, ...]:
    return (_uci("00320/student.zip", None, (member, sha256)),)


SOURCES: dict[str, Source] = {
    "adult": Source(
        "adult.csv",
        "02b24680d59737602748bb79754165d5f983202158b151f692d7a46e85e952dc",
        (_uci("adult/adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),),
        clean_adult,
    ),
    "adult-test": Source(
        "adult_test.csv",
        "db5ef966958e6e553f76fca8fbb7f7f92bc97bf8d6e90e70a261c8e483e555ed",
        (_uci("adult/adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),),
        clean_adult,
    ),
    "bank-full": Source(
        "bank-full.csv",
        "b44507c26634736d4a0619ec2d7c4b6ff56a2c63cbeb5176d3134e7b25e416f0",
        _bank("bank-full.csv", "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d"),
        clean_semicolons,
    ),
    "bank": Source(
        "bank.csv",
        "09de0bb208744ae3f9856b3cdf80c47bc249e651fb3f42d21aff19f927e61f5a",
        _bank("bank.csv", "dc8d576e9bda0f41ee891251bd84bab9a39ce576cba715aac08adc2374a01fde"),
        clean_semicolons,
    ),
    "heart-cleveland": Source(
        "heart_cleveland.csv",
        "c62392cce6a715ef063ff42c1557df0675df2d8612e272abed377932e8e475c7",
        _CLINICS[:1],
        clean_heart,
    ),
    "heart-920": Source(
        "heart_disease_920.csv",
        "4ec411ec1af8a2b60899f908c82b35167ad1280e8a7c738b541d8e09d4987dca",
        _CLINICS,
        clean_hearts,
    ),
    "student-mat": Source(
        "student-mat.csv",
        "659f3984643c2def53ba5e49f551c6ce3657039f9c25306cacb8f43b818a5190",
        _student("student-mat.csv", "e47f9ee225e1ee6e69b7564e6dac7123e80b8486677fe111f351964cef5dec80"),
        clean_semicolons,
    ),
    "student-por": Source(
        "student-por.csv",
        "3fb408fe4b66d4cdb90ad4ec5e3fb6de94ba662d0471a3d46c03da483069f76b",
        _student("student-por.csv", "a7594a11d7771c0efe1a740824e0e833da9c4cad07c39a9766a874575563fb3f"),
        clean_semicolons,
    ),
    "breast-cancer-wisconsin": Source(
        "breast-cancer-wisconsin.csv",
        "ec5be2d841ce085734e7bb3e3367e95ef7fa6721fd7ff2bd3fcf2a3d6a65fd0d",
        (
            _uci(
                "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
                "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
            ),
        ),
        clean_breast,
    ),
    "wdbc": Source(
        "wdbc.csv",
        "f9391ae7762f4f950d93646740153f78f0b2788efabed30900c8ac2aab324441",
        (
            _uci(
                "breast-cancer-wisconsin/wdbc.data",
                "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a",
            ),
        ),
        clean_wdbc,
    ),
    "pima": Source(
        "pima-indians-diabetes.csv", "c62fdc4685d8e47c2a80e2303f88caa99afaeeadea58873fcafffcf288c3c7be"
    ),
    "census-casc": Source(
        "census_casc.csv", "40fb91564d4379274610e941161fd38729adb471bddb9c71d7c01ef142fd0f5b"
    ),
    "tarragona": Source("tarragona.csv", "d5f719a134a3476b2157d9675d1a2b211dbc06ad6109685ad1e4b7847cfa45a4"),
    "eia": Source("eia.csv", "4df54e21b3451e3c0b6081fa1c9ef5dbd8f09d484925ed2ade759b78b4869d1b"),
    "facebook-ego0": Source(
        "facebook_ego0_categorical.csv",
        "3df03772fd9e18e3b8bc5dc65a25ce28884677fe5c8ef89ce73d2c2344d72ff6",
        (_EGO0,),
        clean_ego,
    ),
    "facebook-ego0-binary": Source(
        "facebook_ego0_binary.csv",
        "998a2bbfb38f72bd4eb82935c51ef8724269abdb98bdb09a11d4d0ec67f0c6c6",
        (_EGO0,),
        clean_ego_binary,
    ),
    "twitter-ego12831": Source(
        "twitter_ego12831_categorical.csv", "9d1833cb55b021bc1524ceab7bf6e4fc3c31bf032852500cbf84e9e3daecce55"
    ),
    "twitter-ego12831-binary": Source(
        "twitter_ego12831_binary.csv", "294706affdfeb063b28360aa50be1990f7fcaf05c7119c29a78182e8c2e7b506"
    ),
}


def _arx(column: str, sha256: str, published: str | None = None) -> Source:
    raw = Raw(f"{_ARX}/adult_hierarchy_{column}.csv", published or sha256)
    return Source(f"hierarchies/adult_{column}.csv", sha256, (raw,), clean_hierarchy)


HIERARCHIES: dict[str, dict[str, Source]] = {
    "adult": {
        column: _arx(column, *checksums)
        for column, checksums in {
            "age": ("463f35372e8b1ad31fc624eb73c5da9297878a044ae5d61038eaf7b431ac55ca",),
            "education": ("f22e5ee519c28b05538d4e5ddea0fbee5f0017fefb3abab3fa02272325bf9ce5",),
            "marital-status": ("3e7ba2c4a5cd4fec059b4e3a2c57fce6e7c34a20daee1e624990ddd7beba85e5",),
            "native-country": (
                "1a09af0a6ca6d463cba5e193ecdc3f0719e334350f39e91af47dff357a0c3076",
                "696d3b53973311c096b33f98bb56e526016910b1a1cd5a1e904cb799d1077023",
            ),
            "occupation": ("16dc420d5d7f8ab4d1e6144eb1d19ab8314ef42523fe8c4ee202372db1c98126",),
            "race": ("df11abf41fa0669455adc9c9f9fa88663afa0cee8327684ecca861cd32dc4209",),
            "salary-class": ("404895b3fcfb615813efab7ae0d2c50c8b127cec651f9b37d44a648646f86345",),
            "sex": ("537d23f7b6969b916b5a5490eb1b32c273fefdc62ca050a7a813e23bbf3b78b2",),
            "workclass": ("106f420349bf0071dbb25371795a78799edf24a64c3424619d563c3990ee8d02",),
        }.items()
    }
}
HIERARCHIES["adult-test"] = HIERARCHIES["adult"]
