"""Every sentence of the paper that claims something measurable, and how it is judged from our rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ..base import Claim, Results
from .experiments import RANDOM, RHOS

Check = Callable[[Results], tuple[bool, str]]
MOST = 0.5  # "in most cases" is more than this share of settings
PAPER_SHAPES = {"breast-cancer-wisconsin": (699, 13), "pima": (769, 8)}  # records x attributes, section 4.1


def averages(results: Results, value: str) -> dict[tuple[str, int, str], float]:
    """Return the mean over seeds of the partition experiment by (table, k, algorithm)."""
    groups: dict[tuple[str, int, str], list[float]] = {}
    for row in results.rows["partitions"]:
        groups.setdefault((row["table"], row["k"], row["algorithm"]), []).append(row[value])
    return {key: float(np.mean(found)) for key, found in groups.items()}


def _pairs(results: Results, value: str) -> list[tuple[float, float]]:
    """Return (top-down, bottom-up) at every table and k."""
    found = averages(results, value)
    return [
        (ours, found[table, k, "bottom-up"]) for (table, k, name), ours in found.items() if name == "top-down"
    ]


def _faster(results: Results) -> tuple[bool, str]:
    pairs = _pairs(results, "seconds")
    ratios = [bottom / top for top, bottom in pairs]
    faster = sum(ratio > 1 for ratio in ratios)
    text = (
        f"top-down faster at {faster} of {len(pairs)} settings; {min(ratios):.2f} to {max(ratios):.2f} times"
    )
    return faster == len(pairs), text


def _less_loss(results: Results) -> tuple[bool, str]:
    pairs = _pairs(results, "il")
    lower = sum(top < bottom for top, bottom in pairs)
    span = [top / bottom for top, bottom in pairs]
    text = f"lower at {lower} of {len(pairs)} settings; ratio {min(span):.2f} to {max(span):.2f}"
    return lower > MOST * len(pairs), text


def _sometimes_more(results: Results) -> tuple[bool, str]:
    pairs = _pairs(results, "il")
    more = sum(top > bottom for top, bottom in pairs)
    return 0 < more < MOST * len(pairs), f"more at {more} of {len(pairs)} settings"


def _both(results: Results) -> tuple[bool, str]:
    fast, speed = _faster(results)
    little, loss = _less_loss(results)
    return fast and little, f"time: {speed}; loss: {loss}"


def _spread(results: Results) -> dict[str, float]:
    groups: dict[tuple[str, int, str], list[float]] = {}
    for row in results.rows["partitions"]:
        groups.setdefault((row["table"], row["k"], row["algorithm"]), []).append(row["il"])
    shares: dict[str, list[float]] = {}
    for (_, _, name), found in groups.items():
        shares.setdefault(name, []).append(float(np.std(found) / np.mean(found)))
    return {name: float(np.mean(found)) for name, found in shares.items()}


def _less_chance(results: Results) -> tuple[bool, str]:
    spread = _spread(results)
    text = f"loss varies by {spread['top-down']:.1%} over seeds, bottom-up by {spread['bottom-up']:.1%}"
    return spread["top-down"] < spread["bottom-up"], text


def _fixed_partition(results: Results) -> tuple[bool, str]:
    rows = results.where("parts", parts=1)
    return all(row["il_spread"] == 0 for row in rows), "one part: the same loss for every seed"


def _sizes(results: Results) -> tuple[bool, str]:
    rows = results.where("partitions", algorithm="top-down")
    good = sum(row["sizes_in_range"] for row in rows)
    return good == len(rows), f"in {good} of {len(rows)} runs (after parts below k were merged)"


def _curves(results: Results, value: str, along: str, across: str) -> list[list[float]]:
    """Return one curve of numbers along k or rho for every table and value of the other."""
    groups: dict[tuple[Any, Any], list[tuple[float, float]]] = {}
    for row in results.rows["noise"]:
        if row["rho"] != RANDOM:
            groups.setdefault((row["table"], row[across]), []).append((row[along], row[value]))
    return [[number for _, number in sorted(curve)] for curve in groups.values()]


def _steps(curves: Iterable[list[float]], rising: bool) -> tuple[int, int]:
    steps = [b - a if rising else a - b for curve in curves for a, b in pairwise(curve)]
    return sum(step > 0 for step in steps), len(steps)


def _moves(value: str, along: str, across: str, *, rising: bool, share: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        good, count = _steps(_curves(results, value, along, across), rising)
        direction = "rises" if rising else "falls"
        return good >= share * count, f"{value} {direction} at {good} of {count} steps of {along}"

    return check


def _random_loses_more(results: Results) -> tuple[bool, str]:
    pairs = [
        (row["il"], results.where("noise", table=row["table"], k=row["k"], rho=0.0)[0]["il"])
        for row in results.where("noise", rho=RANDOM)
    ]
    ratios = [noisy / plain for noisy, plain in pairs]
    return min(ratios) > 1, f"{min(ratios):.2f} to {max(ratios):.2f} times the loss of microaggregation"


def _one_is_random(results: Results) -> tuple[bool, str]:
    gaps = []
    for row in results.where("noise", rho=1.0):
        other = results.where("noise", table=row["table"], k=row["k"], rho=RANDOM)[0]
        gaps.append(abs(row["il"] - other["il"]) / max(1e-12, np.hypot(row["il_error"], other["il_error"])))
    return max(gaps) < 4, f"losses differ by at most {max(gaps):.1f} standard errors"


def _poorest(results: Results) -> tuple[bool, str]:
    curves = _curves(results, "dld", "rho", "k")
    good = sum(curve[0] == max(curve) for curve in curves)
    return good == len(curves), f"DLD is highest at rho = 0 at {good} of {len(curves)} settings"


def _dips(ks: tuple[int, ...] | None) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        found = []
        for row in results.where("noise", rho=0.8):
            if ks is None or row["k"] in ks:
                full = results.where("noise", table=row["table"], k=row["k"], rho=1.0)[0]
                clear = 2 * np.hypot(row["dld_error"], full["dld_error"])
                found.append((row["dld"] < full["dld"], row["dld"] < full["dld"] - clear))
        lower, clearly = sum(a for a, _ in found), sum(b for _, b in found)
        held = lower > 0 if ks is None else lower == len(found) > 0
        return held, f"lower at {lower} of {len(found)} settings, beyond two standard errors at {clearly}"

    return check


def _upward(results: Results) -> tuple[bool, str]:
    found = []
    for rho in RHOS:
        series = results.series("noise", "k", "dld", table="pima", rho=rho)
        found += [series[k] > series[k - 1] for k in (9, 11) if k in series and k - 1 in series]
    return bool(found) and all(found), f"upward at {sum(found)} of {len(found)} settings"


def _near_are_linked(results: Results) -> tuple[bool, str]:
    rows = results.where("noise", rho=0.0)
    good = sum(row["near"] > row["far"] for row in rows)
    near, far = (float(np.mean([row[side] for row in rows])) for side in ("near", "far"))
    text = f"{near:.3f} of the nearer half are linked, {far:.3f} of the farther"
    return near > far, f"{text}; more at {good} of {len(rows)} settings"


def _never_bounded(results: Results) -> tuple[bool, str]:
    rows = [row for row in results.rows["neighbours"] if row["rho"] > 0]
    worst = max(row["impossible"] for row in rows)
    text = (
        f"up to {worst:.0%} of what one table gives is impossible for its neighbour: no epsilon bounds that"
    )
    return worst == 0, text


def _inferred(results: Results) -> tuple[bool, str]:
    rows = results.where("attacks", rho=0.0)
    share = min(row["exact"] for row in rows)
    return share == 1, f"the last record is found exactly in {share:.0%} of the cells at rho = 0"


def _not_guessed(results: Results) -> tuple[bool, str]:
    rows = [row for row in results.rows["attacks"] if row["rho"] > 0]
    ratios = [row["error"] / row["blind"] for row in rows]
    text = f"guesses err {min(ratios):.2f} to {max(ratios):.2f} times as much as without the publication"
    return min(ratios) >= 0.95, text


def _same_probability(results: Results) -> tuple[bool, str]:
    rows = results.rows["exchangeability"]
    worst = max(abs(row["correlation"]) / max(row["error"], 1e-12) for row in rows)
    return worst < 4, f"correlation with the own record at most {worst:.1f} standard errors from 0"


def _parts_help(results: Results) -> tuple[bool, str]:
    first = {row["table"]: row["seconds"] for row in results.where("parts", parts=1)}
    ratios = [first[row["table"]] / row["seconds"] for row in results.rows["parts"] if row["parts"] > 1]
    return min(ratios) > 1, f"{min(ratios):.2f} to {max(ratios):.2f} times as fast as one part"


def _parts_hurt(results: Results) -> tuple[bool, str]:
    most = max(row["parts"] for row in results.rows["parts"])
    ratios = [
        row["il"] / results.where("parts", table=row["table"], parts=1)[0]["il"]
        for row in results.where("parts", parts=most)
    ]
    return min(ratios) > 1, f"{most} parts: {min(ratios):.2f} to {max(ratios):.2f} times the loss of one part"


def _seeding(results: Results) -> tuple[bool, str]:
    held, texts = True, []
    for value in ("iterations", "error"):
        for table in {row["table"]: None for row in results.rows["seedings"]}:
            ours, theirs = (
                float(np.mean([row[value] for row in results.where("seedings", table=table, seeding=name)]))
                for name in ("c-means++", "c-means")
            )
            held &= ours < theirs
            texts.append(f"{value} {ours / theirs:.2f} times on {table}")
    return held, "; ".join(texts)


def _shapes(results: Results) -> tuple[bool, str]:
    rows = results.rows["tables"]
    same = all((row["records"], row["columns"]) == PAPER_SHAPES[row["table"]] for row in rows)
    words = [
        f"{row['table']}: {row['records']} x {row['columns']}, {row['complete']} complete" for row in rows
    ]
    return same, "; ".join(words)


CLAIMS = (
    Claim("title, abstract, 3.3", "random aggregation satisfies differential privacy", _never_bounded),
    Claim("abstract, 4.5", "the proposed methods are more efficient and lose less than existing ones", _both),
    Claim(
        "section 1",
        "records near the centroid are linked more often after microaggregation",
        _near_are_linked,
    ),
    Claim("section 1", "knowing k - 1 records of a class and its mean gives away the last", _inferred),
    Claim(
        "sections 1, 2.4",
        "a k-anonymous table drawn by a sampling algorithm resists differential attacks",
        why_not="a result of another work, about another method",
    ),
    Claim(
        "section 1",
        "bottom-up depends much on random samples, top-down (section 3.2) significantly less",
        _less_chance,
    ),
    Claim("sections 1, 2.5", "random k-anonymity always has a larger squared error", _random_loses_more),
    Claim(
        "section 2.5",
        "the information entropy between the anonymous and the original table is low",
        why_not="the paper does not define that entropy",
    ),
    Claim(
        "section 2.2",
        "the larger k, the more information is lost",
        _moves("il", "k", "rho", rising=True, share=1.0),
    ),
    Claim("section 3.2", "a fixed table gives a fixed partition", _fixed_partition),
    Claim("section 3.2", "classes have k to 2k - 1 records", _sizes),
    Claim("section 3.2", "c-means++ has fewer errors and fewer iterations than c-means", _seeding),
    Claim("section 3.3", "rho = 1 is the same as random k-anonymity", _one_is_random),
    Claim(
        "section 3.3", "k records have the same probability to be behind what is published", _same_probability
    ),
    Claim("section 3.3", "who knows k - 1 records cannot guess the remaining one", _not_guessed),
    Claim("section 3.4", "dividing the table into c parts speeds up the partition", _parts_help),
    Claim("section 3.4", "too many parts reduce the quality of the classes", _parts_hurt),
    Claim(
        "section 3.4",
        "the partition costs O(n^2) and needs all n^2 distances",
        why_not="ours never holds all distances; bench/microaggregation.py shows how its time grows",
    ),
    Claim("section 4.1", "699 records x 13 attributes, 769 records x 8 attributes", _shapes),
    Claim("figure 4", "top-down takes much less time than bottom-up on both tables", _faster),
    Claim("figure 5", "top-down loses less in most cases", _less_loss),
    Claim("figure 5b", "in a few cases top-down loses more", _sometimes_more),
    Claim(
        "figure 6", "at the same k, a larger rho loses more", _moves("il", "rho", "k", rising=True, share=1.0)
    ),
    Claim(
        "figure 6", "at the same rho, a larger k loses more", _moves("il", "k", "rho", rising=True, share=1.0)
    ),
    Claim("figure 7", "microaggregation (rho = 0) resists linkage worst", _poorest),
    Claim("figure 7", "a larger rho has a lower DLD", _moves("dld", "rho", "k", rising=False, share=1.0)),
    Claim("figure 7", "sometimes rho = 0.8 has a lower DLD than rho = 1", _dips(None)),
    Claim(
        "figure 7",
        "overall, a larger k has a smaller DLD",
        _moves("dld", "k", "rho", rising=False, share=0.8),
    ),
    Claim("figure 7b", "DLD turns upward at k = 9 and k = 11 (chance, says the paper)", _upward),
    Claim(
        "section 4.5", "at k = 8 and 9, rho = 0.8 has a lower DLD than rho = 1 on both tables", _dips((8, 9))
    ),
)
