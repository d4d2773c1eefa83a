"""Propose: a first policy for a table, with the reason for every column. A proposal is a guess to be read.

Roles are guessed from column names (English, German, French, Spanish), types and uniqueness. A proposal holds
column names and counts, never values.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from . import registry
from .errors import DataError
from .inference import infer_kind, without_nan
from .schema import Column, Kind, Role

if TYPE_CHECKING:
    from .models.base import Model
    from .policy import Policy

_IDENTIFIER = """
    name names firstname lastname surname forename fullname username login nickname email mail phone
    telephone tel mobile cell fax ssn sin nino passport licence license iban bic account
    accountnumber card creditcard ip mac imei url website address street house id uuid guid key mrn
    nhs insurancenumber plate vin signature photo nachname vorname benutzername telefon handy
    strasse adresse hausnummer ausweis konto kontonummer versichertennummer kennung nom prenom
    telephone courriel rue compte nombre apellido apellidos correo telefono calle direccion dni nie
    cuenta
"""
_QUASI = """
    age sex gender zip zipcode postcode postal plz city town village county country state region
    province district nation nationality citizenship birth birthdate birthday born dob yob birthyear
    birthplace job occupation profession employer workplace work workclass industry education degree
    school marital married civil family children household race ethnic ethnicity language native
    tongue admission admitted discharge death visit date height eyes hair latitude longitude lat lon
    location alter geschlecht stadt ort postleitzahl gemeinde kreis bundesland land
    staatsangehoerigkeit nationalitaet geburtsdatum geburtsjahr geburtsort geburtstag beruf
    arbeitgeber branche bildung schulabschluss familienstand kinder sprache herkunft aufnahme
    entlassung datum sexe genre ville commune departement pays nationalite naissance metier diplome
    enfants langue edad sexo genero ciudad codigo provincia pais nacionalidad nacimiento profesion
    trabajo educacion estado hijos idioma fecha
"""
_SENSITIVE = """
    diagnosis diagnoses disease illness condition symptom treatment therapy medication drug
    prescription icd hiv aids std blood test result disability mental psychiatric pregnancy abortion
    genetic dna bmi smoker smoking alcohol salary wage wages income earnings pay bonus wealth debt
    loan credit balance cost costs charge charges price religion faith belief party politics
    political vote union orientation sexuality crime criminal conviction offence arrest score grade
    mark marks rating performance class target label y outcome diagnose krankheit erkrankung
    behandlung befund medikament gehalt lohn einkommen verdienst vermoegen schulden kosten
    konfession glaube partei gewerkschaft note diagnostic maladie traitement medicament salaire
    revenu croyance syndicat diagnostico enfermedad tratamiento medicamento salario sueldo ingreso
    ingresos religion sindicato nota
"""
# Bare 'weight' may be a body's, which must not be published as it is.
_WEIGHT = frozenset(("fnlwgt", "sampleweight", "samplingweight", "surveyweight", "designweight"))

# The first list that has a word of the name decides: 'insurance id' is an identifier.
_WORDS: tuple[tuple[Role, frozenset[str]], ...] = (
    (Role.IDENTIFIER, frozenset(_IDENTIFIER.split())),
    (Role.SENSITIVE, frozenset(_SENSITIVE.split())),
    (Role.QUASI, frozenset(_QUASI.split())),
)
_DATE_PATTERN = r"^\d{4}-\d{2}-\d{2}"
_MOSTLY = 0.95
_POSTCODES = frozenset(("zip", "zipcode", "postcode", "postal", "plz", "postleitzahl"))
_CODES = _POSTCODES | {"code", "codigo"}


@dataclass(frozen=True, slots=True)
class ProposedColumn:
    """One column's proposed part of a policy.

    Attributes
    ----------
    column : Column
        With role and kind; role "other" leaves it out of the policy.
    reason : str
        Why, and what the column looks like, in counts.
    """

    column: Column
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A first policy to read and correct. Holds no cell values.

    Attributes
    ----------
    policy : Policy
        With k-anonymity of 5, and l-diversity of 2 where there is a sensitive column.
    columns : tuple of ProposedColumn
        Every column of the table, in its order.
    """

    policy: Policy
    columns: tuple[ProposedColumn, ...]

    def to_toml(self) -> str:
        """Return the commented policy file."""
        from .policy_file import dumps

        comments = {proposed.column.name: proposed.reason for proposed in self.columns}
        return dumps(self.policy, header=_HEADER, comments=comments)


_HEADER = """\
A first policy, guessed from names, types and counts. Read it before you use it.

Roles: identifier  names one person: dropped (or action = "pseudonym" or "mask")
       quasi       others may know it: generalised until every record hides in a class
       sensitive   nobody should learn it: kept, and protected by l-diversity and t-closeness
       other       neither: published as it is
suppression is the share of records that may be left out to keep the rest precise."""


def propose(table: pa.Table) -> Proposal:
    """Return a first policy for a table, with the reason for every column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"name": ["a", "b"], "age": [31, 42], "diagnosis": ["x", "x"]})
    >>> [str(proposed.column.role) for proposed in propose(table).columns]
    ['identifier', 'quasi', 'sensitive']
    """
    from .policy import Policy

    if table.num_rows == 0:
        raise DataError("the table has no records", hint="A policy is proposed from types and counts.")
    columns = tuple(_propose_column(name, table.column(name)) for name in table.column_names)
    models: list[Model] = [registry.get("models", "k-anonymity").create({"k": 5})]
    if any(proposed.column.role is Role.SENSITIVE for proposed in columns):
        models.append(registry.get("models", "l-diversity").create({"l": 2}))
    by_role = {role: {p.column.name: p.column for p in columns if p.column.role is role} for role in Role}
    policy = Policy(
        identifiers=by_role[Role.IDENTIFIER],
        quasi=by_role[Role.QUASI],
        sensitive=by_role[Role.SENSITIVE],
        models=models,
        suppression=0.02,
    )
    return Proposal(policy.with_columns(proposed.column for proposed in columns), columns)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the guesses look at: counts and types, no values."""

    type_name: str
    kind: Kind
    records: int
    nulls: int
    distinct: int
    unique: int
    looks_like_date: bool

    @property
    def all_different(self) -> bool:
        present = self.records - self.nulls
        return present > 1 and self.distinct == present

    def words(self) -> str:
        share = self.unique / self.records
        return (
            f"{self.type_name}, {self.distinct:,} distinct, "
            f"{share:.0%} of the records have a value of their own, {self.nulls:,} nulls"
        )


def _propose_column(name: str, values: pa.ChunkedArray) -> ProposedColumn:
    from .hierarchies import Hierarchy

    facts = _facts(values)
    role, why = _role(name, facts)
    kind = facts.kind if role in (Role.QUASI, Role.SENSITIVE) else None
    hierarchy = None
    if kind in (Kind.NUMERIC, Kind.CATEGORICAL) and _words(name) & _CODES:
        kind, why = Kind.CATEGORICAL, f"{why}; a code, not an amount"
        if role is Role.QUASI and _words(name) & _POSTCODES:
            hierarchy, why = Hierarchy.prefix(), f"{why}, whose last characters can be masked"
    if facts.looks_like_date:
        why = f"{why}; texts that look like dates: read them as dates to generalise by calendar"
    return ProposedColumn(Column(name, role, kind, hierarchy), f"{facts.words()}\n{role.value}: {why}")


def _facts(values: pa.ChunkedArray) -> _Facts:
    values = without_nan(values)
    counts = pc.value_counts(values.drop_null())
    each = counts.field("counts") if len(counts) else pa.array([], pa.int64())
    kind = infer_kind(values)
    texts = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    matching = pc.sum(pc.match_substring_regex(values, _DATE_PATTERN)).as_py() if texts else 0
    present = len(values) - values.null_count
    return _Facts(
        type_name=str(values.type) if not pa.types.is_dictionary(values.type) else "categories",
        kind=kind,
        records=len(values),
        nulls=values.null_count,
        distinct=len(counts),
        unique=int(pc.sum(pc.equal(each, 1)).as_py() or 0),
        looks_like_date=bool(texts and present and (matching or 0) >= _MOSTLY * present),
    )


def _role(name: str, facts: _Facts) -> tuple[Role, str]:
    words = _words(name)
    if words & _WEIGHT and facts.kind is Kind.NUMERIC:
        return Role.WEIGHT, "the name says sampling weight"
    for role, known in _WORDS:
        found = words & known
        if found and not _is_exception(role, words, facts):
            return role, f"the name says so ({', '.join(sorted(found))})"
    if facts.all_different and facts.kind is Kind.CATEGORICAL:
        return Role.IDENTIFIER, "every text occurs once"
    if facts.distinct <= 1:
        return Role.OTHER, "one value throughout tells nobody apart"
    return Role.QUASI, "unknown name; make it 'other' only if nobody else can know these values"


def _is_exception(role: Role, words: frozenset[str], facts: _Facts) -> bool:
    """Return whether a word means something else here, such as the name of a country."""
    if role is not Role.IDENTIFIER:
        return False
    places = {"country", "city", "state", "region", "county", "school", "job", "native", "birth", "marital"}
    vague = words & _WORDS[0][1] <= {"name", "nom", "nombre", "key", "id", "card", "cell", "house"}
    return bool(vague and words & places) and not facts.all_different


def _words(name: str) -> frozenset[str]:
    """Return the words of a column name, without accents; camel case and digits part words."""
    plain = name.replace("ß", "ss")
    for umlaut, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue")):
        plain = plain.replace(umlaut, letters)
    plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    words = re.findall(r"[a-z]+", plain.lower())
    return frozenset(words) | {"".join(pair) for pair in itertools.pairwise(words)}
