"""The facts of a report as a short Markdown summary."""

from __future__ import annotations

import re
from typing import Any

from .exposure import strongest
from .parts import promise_name
from .words import HOW, capital, counted, number, percent

Facts = dict[str, Any]
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def markdown(facts: Facts) -> str:
    """Return the summary: verdict, promises, cost, attacks, utility, recipe; names are escaped."""
    verdict = facts["verdict"]
    lines = [
        "# Release report",
        "",
        f"**{'The policy holds' if verdict['holds'] else 'The policy does not hold'}.** "
        f"{counted(verdict['published'], 'record')} of {verdict['records']:,} published in "
        f"{counted(verdict['classes'], 'class', 'classes')}, the smallest of {verdict['smallest_class']:,}.",
        "",
        "| promise | about | required | achieved | established | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for promise in facts["promises"]:
        sign = "at least" if promise["better"] == "higher" else "at most"
        cells = (
            promise_name(promise),
            promise["column"] or "every record",
            f"{sign} {number(promise['required'])}",
            number(promise["achieved"]),
            HOW[promise["how"]],
            "holds" if promise["holds"] else "broken",
        )
        lines.append("| " + " | ".join(map(escaped, cells)) + " |")
    lines += ["", *(f"- {escaped(capital(problem))}" for problem in facts["problems"])]
    lines += [f"- {line}" for line in _findings(facts)]
    return "\n".join(lines).rstrip() + "\n\n" + _recipe(facts) + "\n"


def _findings(facts: Facts) -> list[str]:
    cost, utility, attacks = facts["cost"], facts["utility"], facts["attacks"]
    found = []
    if cost["gcp"] is not None:
        found.append(f"Loss (gcp): {percent(cost['gcp'])}.")
    if cost["bound"] is not None:
        found.append(f"Least loss there can be, proved: {percent(cost['bound'])}.")
    if cost["squares_bound"] is not None:
        least = percent(cost["squares_bound"] / 100)
        found.append(f"Squared error: {percent(cost['squares'] / 100)}; least there can be, proved: {least}.")
    if cost["by_column"]:
        each = ", ".join(f"{escaped(name)} {percent(loss)}" for name, loss in cost["by_column"].items())
        found.append(f"Loss by column: {each}.")
    found.append(f"Suppressed: {counted(facts['verdict']['suppressed'], 'record')}.")
    told = strongest((attacks or {"results": []})["results"])
    found += [escaped(capital(result["verdict"])) for result in told]
    if utility is not None:
        median, mean = (percent(utility["queries"][name]) for name in ("median", "mean"))
        found.append(f"COUNT queries: {median} off in the median, {mean} on average.")
        for score in (utility["learning"] or {"scores": []})["scores"]:
            right, raw, guess = (percent(score[name]) for name in ("published", "original", "majority"))
            name = capital(score["model"])[:-1]
            found.append(
                f"{name}: {right} right from the release, {raw} from the original, {guess} by guessing."
            )
    return found


def _recipe(facts: Facts) -> str:
    repeat = facts["repeat"]
    made = f"Made by {escaped(repeat['algorithm'])}, seed {repeat['seed']}. " if repeat["algorithm"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in repeat["versions"].items())
    hashes = "; ".join(f"{name.replace('_', ' ')} `{digest}`" for name, digest in repeat["sha256"].items())
    return f"{made}Versions: {versions}. SHA-256: {hashes}."


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> escaped("<b>|x")
    '\\\\<b\\\\>\\\\|x'
    """
    return _MARKUP.sub(r"\\\1", " ".join(str(text).split()))
