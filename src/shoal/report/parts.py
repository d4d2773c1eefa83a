"""Parts: the facts of a report as the sections of a page. What was not measured has no section."""

from __future__ import annotations

from typing import Any

from ..charts import pictures
from ..charts.blocks import Block, Chart, Code, Lines, Part, Summary, Table, Text, Tile
from ..tried import HEADINGS, tried_rows, tried_sentence
from .exposure import attack_tile, attacks_part, risk_part
from .usefulness import utility_part
from .words import HOW, capital, counted, listed, number, percent

Facts = dict[str, Any]
TITLE = "Release report"


def summary_of(facts: Facts) -> Summary:
    """Return the head of the page: the verdict, and the numbers that matter most."""
    verdict = facts["verdict"]
    if verdict["holds"]:
        text = f"All {counted(len(facts['promises']), 'promise')} of the policy were checked, and all hold."
        if len(facts["promises"]) == 1:
            text = "The promise of the policy was checked, and it holds."
    else:
        broken = sum(not promise["holds"] for promise in facts["promises"])
        text = f"{counted(broken, 'promise')} of {len(facts['promises'])} broken"
        text = capital(
            text + (f", {counted(len(facts['problems']), 'problem')}" if facts["problems"] else "")
        )
        text += " This table is not to be published."
    return Summary(
        TITLE,
        "The policy holds" if verdict["holds"] else "The policy does not hold",
        verdict["holds"],
        text,
        tuple(_tiles(facts)),
        f"Made by shoal {facts['repeat']['versions'].get('shoal', '')}. This page loads nothing and holds no "
        "record: values that few people have are merged with others, and extremes are left open.",
    )


def _tiles(facts: Facts) -> list[Tile]:
    verdict, cost, utility = facts["verdict"], facts["cost"], facts["utility"]
    tiles = [
        Tile(f"{verdict['published']:,}", "records published", f"of {verdict['records']:,} in the original"),
        Tile(
            f"{verdict['smallest_class']:,}",
            "records in the smallest class",
            "who look alike in every quasi-identifier",
        ),
    ]
    if cost["gcp"] is not None:
        tiles.append(Tile(percent(cost["gcp"]), "of the detail is lost", "gcp: 0% is the original"))
    tile = attack_tile(facts)
    if tile is not None:
        tiles.append(tile)
    if utility is not None:
        text = f"of {utility['queries']['queries']:,} random ones"
        tiles.append(Tile(percent(utility["queries"]["median"]), "error of the median COUNT query", text))
    return tiles


def parts_of(facts: Facts) -> list[Part]:
    """Return the sections of the page, in the order a reader who signs needs them."""
    found = [_promises(facts), _cost(facts)]
    found += [part for part in (risk_part(facts), attacks_part(facts)) if part is not None]
    if facts["utility"] is not None:
        found.append(utility_part(facts["utility"]))
    if facts["comparison"]:
        found.append(_comparison(facts))
    return [*found, _repeat(facts)]


def _promises(facts: Facts) -> Part:
    rows, good = [], []
    for promise in facts["promises"]:
        sign = "at least" if promise["better"] == "higher" else "at most"
        achieved = "unknown" if promise["achieved"] is None else number(promise["achieved"])
        held = "holds" if promise["holds"] else f"broken by {counted(promise['failing'], 'class', 'classes')}"
        rows.append(
            (
                promise_name(promise),
                promise["column"] or "every record",
                f"{sign} {number(promise['required'])}",
                achieved,
                HOW[promise["how"]],
                held,
            )
        )
        good.append(promise["holds"])
    header = ("promise", "about", "required", "achieved", "established", "verdict")
    blocks: list[Block] = [Table(header, tuple(rows), good=tuple(good))]
    meanings = {promise["model"]: promise["meaning"] for promise in facts["promises"] if promise["meaning"]}
    blocks.append(Lines(tuple(f"{name}: {meaning}." for name, meaning in meanings.items())))
    if facts["problems"]:
        blocks.append(Lines(tuple(capital(problem) for problem in facts["problems"])))
    if facts["unnamed"]:
        blocks.append(
            Text(
                f"The policy does not name {listed(facts['unnamed'])}: published as they are, and no promise "
                "speaks about them."
            )
        )
    return Part("What is promised", "promises", tuple(blocks))


def promise_name(promise: Facts) -> str:
    """Return a promise's model with the settings that are words, such as its distance."""
    words = [str(v) for v in promise["parameters"].values() if isinstance(v, str)]
    name = str(promise["model"])
    return f"{name} ({', '.join(words)})" if words and promise["how"] != "proof" else name


def _cost(facts: Facts) -> Part:
    cost, verdict = facts["cost"], facts["verdict"]
    suppressed = verdict["suppressed"]
    share = suppressed / verdict["records"] if verdict["records"] else 0.0
    sentence = f"{counted(suppressed, 'record')} suppressed ({percent(share)}"
    blocks: list[Block] = [Text(f"{sentence}; the policy allows {percent(cost['suppression_limit'])}).")]
    if cost["gcp"] is not None:
        text = f"On average a cell lost {percent(cost['gcp'])} of its detail."
        blocks.append(Text(text + _certificate(cost)))
    if cost["squares_bound"] is not None:
        blocks.append(Text(_squares(cost)))
    if cost["auto"] is not None:
        blocks.append(Text(tried_sentence(cost["auto"])))
        tried = tuple(tried_rows(cost["auto"]))
        blocks.append(Table((*HEADINGS[:-1], "remark"), tried, frozenset({1, 2, 3}), "What auto tried"))
    if cost["refinement"] is not None:
        blocks += _refinement(cost["refinement"])
    if cost["by_column"]:
        rows = [{"column": name, "loss": value} for name, value in cost["by_column"].items()]
        table = Table(
            ("column", "loss"),
            tuple((row["column"], percent(row["loss"])) for row in rows),
            frozenset({1}),
            "The numbers",
        )
        spec = pictures.ranked(rows, "column", "loss", "loss", most=1.0)
        text = "0% is the original value, 100% says nothing. A suppressed record lost all."
        blocks.append(Chart("Loss by column", spec, text, table))
    if facts["classes"]:
        blocks.append(_class_sizes(facts))
    if cost["metrics"]:
        rows_ = tuple((m["name"], number(m["value"]), m["meaning"]) for m in cost["metrics"])
        blocks.append(Table(("metric", "value", "meaning"), rows_, frozenset({1}), "All metrics"))
    return Part("What it cost", "cost", tuple(blocks))


def _refinement(refinement: Facts) -> list[Block]:
    """Return what refining came to, as a sentence and, where it took several steps, as a curve."""
    before, after = percent(refinement["before"]), percent(refinement["after"])
    text = f"Refining moved records between classes {refinement['moves']:,} times and lowered the loss from "
    blocks: list[Block] = [Text(f"{text}{before} to {after}. It ended: {refinement['ended']}.")]
    curve = [{"moves": moves, "loss": loss} for moves, _seconds, loss in refinement["curve"]]
    if len(curve) > 2:
        blocks.append(Chart("Loss while refining", pictures.descent(curve, "moves", "loss")))
    return blocks


def _certificate(cost: Facts) -> str:
    """Return what is known about the least loss there can be, where a certificate was made."""
    if cost["bound"] is None:
        return ""
    if cost["gap"] == 0:
        return " It is proved that no partition of this table loses less under the same k."
    text = (
        f" It is proved that no partition of this table loses less than {percent(cost['bound'])} under the "
    )
    if cost["gap"] is None:
        return f"{text}same k."
    return f"{text}same k; the rest, {percent(cost['gap'])} of this loss, is not proved unavoidable."


def _squares(cost: Facts) -> str:
    """Return what is known about the least squared error there can be, where means are published."""
    text = f"Publishing means left {percent(cost['squares'] / 100)} of the squared deviations unexplained."
    if cost["squares_gap"] == 0:
        return f"{text} It is proved that no partition of this table leaves less under the same k."
    least, rest = percent(cost["squares_bound"] / 100), percent(cost["squares_gap"])
    return (
        f"{text} It is proved that no partition of this table leaves less than {least} under the same k; the "
        f"rest, {rest} of this error, is not proved unavoidable."
    )


def _class_sizes(facts: Facts) -> Chart:
    rows = facts["classes"]
    table = Table(
        ("records in the class", "classes", "records"),
        tuple((row["size"], f"{row['classes']:,}", f"{row['records']:,}") for row in rows),
        frozenset({1, 2}),
        "The numbers",
    )
    spec = pictures.counts(rows, "size", "records", ("records in the class", "records"))
    classes = counted(facts["verdict"]["classes"], "class", "classes")
    text = f"{classes}. Larger classes hide better and say less."
    return Chart("Records by the size of their class", spec, text, table)


def _comparison(facts: Facts) -> Part:
    verdict = facts["verdict"]
    rows = [
        {
            "algorithm": row["algorithm"],
            "loss": row["gcp"],
            "risk": row["classes"] / verdict["records"],
            "own": False,
        }
        for row in facts["comparison"]
        if row["gcp"] is not None and row["classes"]
    ]
    blocks: list[Block] = [
        Text(
            "Every candidate was made and verified as this release was. The mean risk is the chance to pick "
            "the right record of a class, over all records."
        )
    ]
    series = list(dict.fromkeys(row["algorithm"] for row in rows))
    if rows:
        if facts["cost"]["gcp"] is not None:
            own_risk = verdict["classes"] / verdict["records"]
            rows.append({"algorithm": "", "loss": facts["cost"]["gcp"], "risk": own_risk, "own": True})
        text = "Down and to the left is better. The diamond is this release."
        blocks.append(Chart("Risk and loss of all candidates", pictures.frontier(rows, series), text))
    header = ("algorithm", "k", "loss", "classes", "suppressed", "verdict")
    shown = tuple(
        (
            row["algorithm"],
            number(row["k"]),
            percent(row["gcp"]) if row["gcp"] is not None else "-",
            number(row["classes"]),
            number(row["suppressed"]),
            "holds" if row["holds"] else "not possible",
        )
        for row in facts["comparison"]
    )
    good = tuple(bool(row["holds"]) for row in facts["comparison"])
    blocks.append(Table(header, shown, frozenset({1, 2, 3, 4}), good=good))
    return Part("What else was tried", "candidates", tuple(blocks))


def _repeat(facts: Facts) -> Part:
    repeat = facts["repeat"]
    header = ("column", "role", "kind", "published as")
    rows = tuple(
        (
            column["name"],
            column["role"],
            column.get("kind") or "",
            _published_as(column),
        )
        for column in repeat["policy"]["columns"]
    )
    settings = [f"suppression limit {percent(repeat['policy']['suppression'])}"]
    settings += [
        f"{model['name']}: " + ", ".join(f"{k} {_setting(v)}" for k, v in model.items() if k != "name" and v)
        for model in repeat["policy"]["models"]
    ]
    blocks: list[Block] = [
        Text(
            "The same table, policy, algorithm, seed and versions make the same classes again. Orders and "
            "hierarchies stand in the policy file, not here: they may quote values."
        ),
        Table(header, rows),
        Lines(tuple(settings)),
        Code("\n".join(_recipe(repeat, facts["cost"]["refinement"]))),
    ]
    if repeat["noise"]:
        blocks.append(Text(f"Noise: {repeat['noise']}."))
    if "input" not in repeat["sha256"]:
        blocks.append(
            Text(
                "The hash of the original is left out: whoever knows all records but one could try values "
                "for that one until the hash fits.",
                quiet=True,
            )
        )
    return Part("How to repeat it", "repeat", tuple(blocks))


def _setting(value: Any) -> str:
    return listed(value) if isinstance(value, list) else str(value)


def _published_as(column: Facts) -> str:
    if column["role"] == "identifier":
        return {"drop": "dropped", "mask": "masked"}.get(column["action"], "pseudonym")
    if column["role"] != "quasi":
        return "as it is"
    auto = "set of values" if column["kind"] == "categorical" else "interval"
    if column["form"] == "auto":
        return "node of its hierarchy" if column["hierarchy"] else auto
    words = {"ancestor": "node of its hierarchy", "set": "set of values"}
    return words.get(column["form"], str(column["form"]))


def _recipe(repeat: Facts, refinement: Facts | None) -> list[str]:
    lines = []
    if repeat["algorithm"] is not None:
        settings = ", ".join(f"{name}={value!r}" for name, value in repeat["parameters"].items())
        lines.append(f"algorithm  {repeat['algorithm']}" + (f" ({settings})" if settings else ""))
        lines.append(f"seed       {repeat['seed']}")
    if refinement is not None:
        lines.append(f"refine     loss={refinement['loss']!r}, moves={refinement['moves']}")
    lines += [f"{name:<10} {version}" for name, version in repeat["versions"].items()]
    lines += [f"sha256     {digest}  {name.replace('_', ' ')}" for name, digest in repeat["sha256"].items()]
    return lines
