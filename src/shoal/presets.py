"""Presets: three promises in plain words, for whom a table goes to.

The sizes are those that practice settled on: classes of 3 inside a house, of 5 among partners who signed, and
of 11 in public, which is the risk of 0.09 that the European Medicines Agency and Health Canada name for
published patient data and the least cell of the US health statistics.

References
----------
European Medicines Agency (2018): External guidance on the implementation of policy 0070, section 5.4.
El Emam and Arbuckle (2013): Anonymizing Health Data, chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import UnknownName


@dataclass(frozen=True, slots=True)
class SensitiveFacts:
    """What a preset has to know of a sensitive column.

    Attributes
    ----------
    name : str
    distinct : int
        Number of different values.
    ordered : bool
        Whether its values have an order: numbers, ranks, dates.
    """

    name: str
    distinct: int
    ordered: bool


@dataclass(frozen=True, slots=True)
class Preset:
    """A promise in plain words.

    Attributes
    ----------
    name, title : str
    audience : str
        Who is going to hold the table.
    meaning : tuple of str
        What it means for the people in the table.
    k, l : int
        Records in a class, and different values of a sensitive column in it, at least.
    t : float or None
        How far a class may differ from the table.
    suppression : float
        Share of records that may be left out.
    """

    name: str
    title: str
    audience: str
    meaning: tuple[str, ...]
    k: int
    l: int  # noqa: E741  (the literature's own letter)
    t: float | None
    suppression: float

    def models(self, sensitive: Iterable[SensitiveFacts]) -> list[dict[str, Any]]:
        """Return the models of a policy, as `policy_file` writes them.

        A column with fewer different values than `l` can have all of its own in every class, and no more. No
        promise is made about a column that has one value only: everyone knows it already.

        Examples
        --------
        >>> [model["name"] for model in PRESETS["partner"].models([SensitiveFacts("disease", 9, False)])]
        ['k-anonymity', 'l-diversity']
        """
        found: list[dict[str, Any]] = [{"name": "k-anonymity", "k": self.k}]
        everyone = list(sensitive)
        columns = [column for column in everyone if column.distinct > 1]
        by_l: dict[int, list[str]] = {}
        for column in columns if self.l > 1 else []:
            by_l.setdefault(min(self.l, column.distinct), []).append(column.name)
        found += [_about(names, everyone, {"name": "l-diversity", "l": l}) for l, names in by_l.items()]  # noqa: E741
        by_distance: dict[str, list[str]] = {}
        for column in columns if self.t is not None else []:
            by_distance.setdefault("ordered" if column.ordered else "equal", []).append(column.name)
        for distance, names in by_distance.items():
            found.append(_about(names, everyone, {"name": "t-closeness", "t": self.t, "distance": distance}))
        return found


def _about(names: list[str], columns: list[SensitiveFacts], model: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model that names its columns, unless it speaks about all of them."""
    return dict(model) if len(names) == len(columns) else {**model, "columns": names}


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "internal",
            "Internal sharing",
            "Colleagues who are bound by the same duty of confidence.",
            (
                "Everyone hides among at least 3 people who look the same.",
                "No class of people shares one single sensitive value.",
            ),
            k=3,
            l=2,
            t=None,
            suppression=0.05,
        ),
        Preset(
            "partner",
            "Trusted partner",
            "Researchers or an authority that signed an agreement.",
            (
                "Everyone hides among at least 5 people who look the same.",
                "Every class of people has at least 3 different sensitive values.",
            ),
            k=5,
            l=3,
            t=None,
            suppression=0.03,
        ),
        Preset(
            "public",
            "Public release",
            "Anyone, for ever, with whatever else they know.",
            (
                "Everyone hides among at least 11 people who look the same.",
                "Every class of people has at least 3 different sensitive values.",
                "Knowing someone's class teaches little about them: its sensitive values are spread almost "
                "as in the whole table.",
            ),
            k=11,
            l=3,
            t=0.4,
            suppression=0.02,
        ),
    )
}


def preset(name: str) -> Preset:
    """Return a preset by name.

    Examples
    --------
    >>> preset("public").k
    11
    """
    if name not in PRESETS:
        raise UnknownName.nearest("preset", name, list(PRESETS))
    return PRESETS[name]
