"""The section on what the published table is still good for."""

from __future__ import annotations

from typing import Any

from ..charts import pictures
from ..charts.blocks import Block, Chart, Grid, Part, Table, Text
from .words import listed, number, percent

Facts = dict[str, Any]
_OTHER = "other values"


def utility_part(utility: Facts) -> Part:
    """Return the section: questions answered, models trained, distributions, associations."""
    blocks: list[Block] = [
        Text(
            "All of this is read from the published cells as anyone would read them who gets the file: a "
            "cell counts as every value it covers, in equal parts."
        ),
        Text(_queries(utility["queries"])),
    ]
    if utility["learning"] is not None:
        blocks += _learning(utility["learning"])
    blocks.append(_distances(utility["distributions"]))
    blocks.append(Grid(tuple(_distribution(each) for each in utility["distributions"])))
    association = utility["association"]
    if len(association["columns"]) > 1:
        blocks += _association(association)
    least = utility["bars_hold_at_least"]
    note = f"Values that fewer than {least} records have are merged with others; the outermost bars are open."
    blocks.append(Text(note, quiet=True))
    return Part("What it is good for", "utility", tuple(blocks))


def _queries(queries: Facts) -> str:
    asked = f"{queries['columns']} quasi-identifier" + ("s" if queries["columns"] > 1 else "")
    asked += " and a sensitive column" if queries["sensitive"] else ""
    return (
        f"Of {queries['queries']:,} random COUNT queries over {asked}, each finding "
        f"{percent(queries['selectivity_found'])} of the records on average, half are answered with an "
        f"error of {percent(queries['median'])} or less; the mean is {percent(queries['mean'])}, and the "
        f"worst tenth is off by {percent(queries['worst_tenth'])} or more. Errors are relative to the true "
        f"count, but at least to {percent(queries['sanity'])} of the records."
    )


def _learning(learning: Facts) -> list[Block]:
    header = ("model", "trained on the release", "trained on the original", "guessing", "kept")
    rows = tuple(
        (
            score["model"],
            percent(score["published"]),
            percent(score["original"]),
            percent(score["majority"]),
            "-" if score["kept"] is None else f"{max(score['kept'], 0):.0%}",
        )
        for score in learning["scores"]
    )
    details = tuple(
        (
            score["model"],
            number(score["published_f1"]),
            number(score["original_f1"]),
            number(score["published_auc"]),
            number(score["original_auc"]),
        )
        for score in learning["scores"]
    )
    text = (
        f"Models that predict {learning['target']} from the quasi-identifiers, right how often? Trained on "
        f"{learning['trained']:,} records and tested on {learning['tested']:,} original ones"
    )
    text += ", which were kept apart." if learning["held_out"] else ", some of which they were trained on."
    text += " Records were sampled." if learning["sampled"] else ""
    more = ("model", "F1, release", "F1, original", "AUC, release", "AUC, original")
    numbers = frozenset({1, 2, 3, 4})
    return [Text(text), Table(header, rows, numbers), Table(more, details, numbers, "F1 and AUC")]


def _distances(distributions: list[Facts]) -> Table:
    header = ("column", "total variation", "earth mover's distance")
    rows = tuple(
        (
            each["column"],
            percent(each["total_variation"]),
            "-" if each["earth_mover"] is None else percent(each["earth_mover"]),
        )
        for each in distributions
    )
    return Table(header, rows, frozenset({1, 2}))


def _distribution(found: Facts) -> Chart:
    shown, text = _shown(found["bars"])
    rows = [
        {"value": bar["label"], "when": when, "share": bar[when]}
        for bar in shown
        for when in ("before", "after")
    ]
    table = Table(
        ("value", "before", "after"),
        tuple((bar["label"], percent(bar["before"]), percent(bar["after"])) for bar in found["bars"]),
        frozenset({1, 2}),
        "The numbers",
    )
    upright = found["earth_mover"] is not None and len(shown) > 8
    return Chart(found["column"], pictures.pairs(rows, "value", upright=upright), text, table)


def _shown(bars: list[Facts]) -> tuple[list[Facts], str]:
    """Return the bars worth a picture: "other values" that dwarf all others are told in words instead."""
    dwarfed = 2 * max((bar["before"] for bar in bars if not bar["label"].endswith(_OTHER)), default=0.0)
    shown = [bar for bar in bars if not (bar["label"].endswith(_OTHER) and bar["before"] > dwarfed > 0)]
    gone = [bar for bar in bars if bar not in shown]
    if not gone:
        return bars, ""
    other = gone[0]
    text = (
        f"{other['label']} are not drawn: {percent(other['before'])} before, {percent(other['after'])} after."
    )
    return shown, text


def _association(association: Facts) -> list[Block]:
    names = association["columns"]
    charts = []
    for when in ("before", "after"):
        rows = [
            {"a": names[j], "b": names[i], "v": association[when][i][j]}
            for i in range(1, len(names))
            for j in range(i)
        ]
        charts.append(Chart(f"Associations {when}", pictures.heat(rows, names)))
    header = ("columns", "before", "after")
    pairs = [
        (listed([names[j], names[i]]), association["before"][i][j], association["after"][i][j])
        for i in range(1, len(names))
        for j in range(i)
    ]
    pairs.sort(key=lambda pair: -abs(pair[1] - pair[2]))
    rows_ = tuple((name, number(round(was, 3)), number(round(now, 3))) for name, was, now in pairs[:20])
    text = (
        "How much two columns tell about each other, by Cramer's V with bias correction: 0 nothing, 1 all. "
        f"On average a pair is {number(round(association['mean_absolute_difference'], 4))} off."
    )
    table = Table(header, rows_, frozenset({1, 2}), "The pairs that changed most")
    return [Text(text), Grid(tuple(charts)), table]
