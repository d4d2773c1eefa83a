"""The sections on who is exposed, and on what attackers reach."""

from __future__ import annotations

from typing import Any

from ..charts import pictures
from ..charts.blocks import Block, Chart, Lines, Part, Table, Text, Tile
from .words import capital, counted, listed, number, percent

Facts = dict[str, Any]
_TOLD = 5  # attacks told in words; the others are folded away


def attack_tile(facts: Facts) -> Tile | None:
    """Return the attack that learns most beyond guessing, where attacks were run."""
    attacks = facts["attacks"]
    if not attacks or not attacks["results"]:
        return None
    worst = max(attacks["results"], key=lambda result: result["excess"])
    guessing = percent(_reference(worst)["value"])
    text = f"{attack_name(worst)}; without the table {guessing}"
    return Tile(percent(worst["success"]["value"]), "success of the strongest attack", text)


def risk_part(facts: Facts) -> Part | None:
    """Return the section on risk before and after; None where it was not measured."""
    risk = facts["risk"]
    if risk is None or risk["after"] is None:
        return None
    before, after = risk["before"], risk["after"]
    blocks: list[Block] = [Text(_sentence(before, after)), _table(before, after)]
    blocks.append(_distribution(before, after))
    above = _above(before, after)
    if above is not None:
        blocks.append(above)
    uniques = risk.get("uniques") or {}
    blocks += _uniques(uniques)
    if before.get("population_uniques"):
        blocks.append(Text(_population(before["population_uniques"], after["population_uniques"])))
    return Part("Who could be found", "risk", tuple(blocks))


def _sentence(before: Facts, after: Facts) -> str:
    alone, now = before["prosecutor"]["uniques"], after["prosecutor"]["uniques"]
    text = f"In the original, {counted(alone, 'record')} of {before['records']:,} had a combination of "
    text += "quasi-identifiers that nobody else had; "
    return text + ("in the release, none." if now == 0 else f"in the release, {now:,}.")


def _table(before: Facts, after: Facts) -> Table:
    rows = [
        (
            "prosecutor: knows that the person is in the table",
            *(percent(each["prosecutor"][what]) for what in ("highest",) for each in (before, after)),
            *(percent(each["prosecutor"]["mean"]["value"]) for each in (before, after)),
        )
    ]
    if before["journalist"] and after["journalist"]:
        rows.append(
            (
                f"journalist: knows the population (by {after['journalist_by']})",
                *(percent(each["journalist"]["highest"]) for each in (before, after)),
                *(percent(each["journalist"]["mean"]["value"]) for each in (before, after)),
            )
        )
    rows.append(
        (
            "marketer: names as many as possible",
            "-",
            "-",
            *(percent(each["marketer"]["value"]) for each in (before, after)),
        )
    )
    header = ("attacker", "highest before", "highest after", "mean before", "mean after")
    return Table(header, tuple(rows), frozenset({1, 2, 3, 4}))


def _distribution(before: Facts, after: Facts) -> Chart:
    rows = [
        {"size": row["size"], "when": when, "share": row["share"]}
        for was, now in zip(before["class_sizes"], after["class_sizes"], strict=True)
        for when, row in (("before", was), ("after", now))
        if was["records"] or now["records"]
    ]
    table = Table(
        ("records that look the same", "before", "after"),
        tuple(
            (was["size"], percent(was["share"]), percent(now["share"]))
            for was, now in zip(before["class_sizes"], after["class_sizes"], strict=True)
        ),
        frozenset({1, 2}),
        "The numbers",
    )
    text = "One record among n that look the same is found with a chance of 1/n. To the right is safer."
    spec = pictures.pairs(rows, "size", upright=True, angle=0)
    return Chart("How many look the same as a record", spec, text, table)


def _above(before: Facts, after: Facts) -> Table | None:
    pairs = list(zip(before["prosecutor"]["above"], after["prosecutor"]["above"], strict=True))
    if not pairs:
        return None
    rows = tuple(
        (f"above {was['threshold']:.0%}", percent(was["share"]), percent(now["share"])) for was, now in pairs
    )
    return Table(
        ("records with a risk", "before", "after"), rows, frozenset({1, 2}), "Shares above thresholds"
    )


def _uniques(uniques: Facts) -> list[Block]:
    found = uniques.get("identifying_sets") or []
    rows = tuple(
        (listed(each["columns"]), number(each["records"]), percent(each["share"]))
        for each in sorted(found, key=lambda each: (each["size"], -each["records"]))[:10]
    )
    if not rows:
        return []
    text = (
        f"In the original, {counted(uniques['special'], 'record')} ({percent(uniques['special_share'])}) "
        "stood out by a few columns alone. The sets of columns that singled out most, smallest first:"
    )
    header = ("whoever knows", "singles out", "share of the records")
    return [Text(text), Table(header, rows, frozenset({1, 2}))]


def _population(before: Facts, after: Facts | None) -> str:
    chosen = before["chosen"]
    share = before["shares"][chosen]["value"]
    text = f"Of the population, an estimated {percent(share)} is unique in the original ({chosen}"
    text += f", {percent(before['fraction'])} of the population is in the table)"
    if after:
        text += f"; in the release {percent(after['shares'][after['chosen']]['value'])}"
    return text + "."


def attacks_part(facts: Facts) -> Part | None:
    """Return the section on attacks; None where none was run."""
    attacks = facts["attacks"]
    if not attacks:
        return None
    asked = f"{attacks['people']:,} of {attacks['records']:,} people" if _sampled(attacks) else "everyone"
    text = f"Attacks were run against the release, with the original as the truth, on {asked}"
    text += f" (drawn with seed {attacks['seed']})." if _sampled(attacks) else "."
    if attacks.get("truth") == "cells":
        text += " Which record is whose was inferred from which cells fit whom."
    blocks: list[Block] = [Text(text)]
    blocks += _verdicts(attacks["results"])
    if attacks["results"]:
        blocks.append(_attack_chart(attacks["results"]))
    if attacks["not_run"]:
        skipped = (f"{each['attack']}: {each['reason']}" for each in attacks["not_run"])
        blocks.append(Text("Not run: " + "; ".join(skipped) + ".", quiet=True))
    return Part("What attackers reach", "attacks", tuple(blocks))


def strongest(results: list[Facts]) -> list[Facts]:
    """Return the few attacks that learn most beyond guessing; none that is no better than a guess."""
    better = [result for result in results if result["better_than_guessing"] and result["verdict"]]
    return sorted(better, key=lambda result: -result["excess"])[:_TOLD]


def _verdicts(results: list[Facts]) -> list[Block]:
    """Return the strongest attacks in plain words, and all of them folded away."""
    if not results:
        return []
    told = strongest(results)
    opening = "The attacks that learn most beyond guessing:" if told else "No attack beats guessing."
    blocks: list[Block] = [Text(opening)]
    if told:
        blocks.append(Lines(tuple(capital(result["verdict"]) for result in told)))
    rows = tuple((attack_name(result), capital(result["verdict"])) for result in results if result["verdict"])
    return [*blocks, Table(("attack", "verdict"), rows, summary="All verdicts")]


def _sampled(attacks: Facts) -> bool:
    return bool(attacks["people"] < attacks["records"])


def _attack_chart(results: list[Facts]) -> Chart:
    rows, shown = [], []
    for result in results:
        name = attack_name(result)
        reference = _reference(result)
        for what, found in (
            ("original", result["before"]),
            ("guessing", reference),
            ("release", result["success"]),
        ):
            if found is not None:
                rows.append({"attack": name, "what": what, **{k: found[k] for k in ("value", "low", "high")}})
        shown.append(
            (
                name,
                "-" if result["before"] is None else percent(result["before"]["value"]),
                percent(reference["value"]),
                percent(result["success"]["value"]),
                f"{percent(result['success']['low'])} to {percent(result['success']['high'])}",
                "above guessing" if result["better_than_guessing"] else "no better",
            )
        )
    header = ("attack", "original", "guessing or control", "release", "95% interval", "verdict")
    good = tuple(not result["better_than_guessing"] for result in results)
    table = Table(header, tuple(shown), frozenset({1, 2, 3}), "The numbers", good)
    text = "Lines are 95% intervals. Guessing is the better of a guess and, where there is one, a control."
    return Chart("Success of every attack", pictures.intervals(rows), text, table)


def _reference(result: Facts) -> Facts:
    control: Facts | None = result["control"]
    baseline: Facts = result["baseline"]
    return control if control is not None and control["value"] > baseline["value"] else baseline


def attack_name(result: Facts) -> str:
    """Return an attack's name with the column it is after."""
    return f"{result['attack']}, {result['column']}" if result["column"] else str(result["attack"])
