"""The two networks as binary tables, one group of features after the other standing for the secret."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ... import datasets
from ...encoding import Encoded, encode
from ...models.base import Model
from ...policy import Policy

NONE = "none"  # a user without any value of the sensitive group


@dataclass(frozen=True)
class Network:
    """An ego network: users, and the values they have.

    Attributes
    ----------
    name : str
    file : str
        The name of its data set: one column a group of values, those of a user joined by ``|``.
    secrets : tuple of str
        Groups of values that stand for the sensitive attribute, the first one in the figures.
    """

    name: str
    file: str
    secrets: tuple[str, ...]

    @cached_property
    def groups(self) -> dict[str, list[set[str]]]:
        """The values of every user, group by group."""
        table = datasets.load(self.file)
        return {
            name: [set(filter(None, (cell or "").split("|"))) for cell in table[name].to_pylist()]
            for name in table.column_names[1:]
        }

    @cached_property
    def values(self) -> dict[str, tuple[str, NDArray[np.bool_]]]:
        """The group of every value, and who has it: the paper's binary table."""
        return {
            f"{group}={value}": (group, np.array([value in own for own in users]))
            for group, users in self.groups.items()
            for value in sorted(set().union(*users))
        }

    @cached_property
    def features(self) -> NDArray[np.int64]:
        """The binary table as int64[n, d]."""
        return np.stack([has for _, has in self.values.values()], axis=1).astype(np.int64)

    @property
    def density(self) -> float:
        """The share of ones in the binary table: the ADR of a release in which nobody has any value."""
        return float(self.features.mean())

    def secret(self, group: str) -> Secret:
        """Return the network with one group as the sensitive attribute."""
        taken = {name: has for name, (own, has) in self.values.items() if own != group}
        yes = {name: pa.array(np.full(len(has), "yes"), mask=~has) for name, has in taken.items()}
        values = ["|".join(sorted(own)) or NONE for own in self.groups[group]]
        return Secret(self, group, pa.table({**yes, group: values}), tuple(taken))

    def least_distortion(self, k: int) -> float:
        """Return a bound that no ADR of k-anonymous classes with their most frequent values is below.

        In a class of s records, of which c have a feature, min(c, s - c) >= c (s - c) / s entries change:
        the distances of all pairs, by s. A record's part of that is least with its k - 1 nearest.
        """
        has = self.features
        ones = has.sum(axis=1)
        apart = ones[:, None] + ones - 2 * has @ has.T
        apart.sort(axis=1)
        return float(apart[:, :k].sum() / (2 * k) / has.size)


@dataclass(frozen=True)
class Secret:
    """A network with one group of its features as the sensitive attribute, all others quasi-identifiers."""

    network: Network
    group: str
    table: pa.Table
    quasi: tuple[str, ...]

    def policy(self, *models: Model) -> Policy:
        """Return a policy of these models."""
        kinds = dict.fromkeys(self.quasi, "categorical")
        return Policy(quasi=kinds, sensitive={self.group: "categorical"}, models=list(models))

    @cached_property
    def encoded(self) -> Encoded:
        """The integer view, which does not depend on the models."""
        return encode(self.table, self.policy().resolved(self.table))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each sensitive value occurs, descending."""
        return np.sort(np.bincount(self.encoded.sensitive_codes[:, 0]))[::-1]

    @property
    def density(self) -> float:
        """The share of ones among the quasi-identifiers; classes that publish their modes change no more."""
        return float(np.mean([self.network.values[name][1].mean() for name in self.quasi]))

    def diversity(self, l: int, k: int) -> int:  # noqa: E741
        """Return the greatest number of values up to `l` that n / 2k classes can all have.

        Classes with l values each take a record outside the l - 1 most frequent values (Truta and Vinay).
        """
        n = int(self.counts.sum())
        while l > 1 and (l > len(self.counts) or n - self.counts[: l - 1].sum() < n / (2 * k)):
            l -= 1  # noqa: E741
        return l


FACEBOOK = Network(
    "Facebook",
    "facebook-ego0",
    (
        "education.type",
        "education.year.id",
        "education.school.id",
        "location.id",
        "gender",
        "locale",
        "birthday",
    ),
)
TWITTER = Network("Twitter", "twitter-ego12831", ("acct_e", "acct_u", "acct_q", "hashtag"))
