"""Every sentence of the paper that claims something, and how it is judged from our rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from ..base import Claim, Results, Row
from .experiments import LITERAL, MONDRIAN, REPAIRED, likeliest
from .printed import DIGITS, NCP, SETTINGS, at, label

Check = Callable[[Results], tuple[bool, str]]

STRONG = 1.5  # "highly sensitive": the worst eps loses this many times the best


def chosen(results: Results) -> dict[str, str]:
    """Return the file taken for each data set of the paper."""
    return likeliest(results.rows["files"])


def cell(results: Results, dataset: str, method: str, setting: tuple[int, int]) -> float:
    """Return our NCP in one cell of Table II, on the file taken for the data set."""
    file = chosen(results)[dataset]
    return float(results.where("table-2", file=file, setting=label(setting), method=method)[0]["ncp"])


def _curve(results: Results, dataset: str, method: str) -> list[float]:
    return [cell(results, dataset, method, setting) for setting in SETTINGS]


def _beside(ours: str, theirs: str) -> Check:
    """Check that one method's NCP is lower than another's wherever that is not 0."""

    def check(results: Results) -> tuple[bool, str]:
        pairs = [
            (cell(results, dataset, ours, setting), cell(results, dataset, theirs, setting))
            for dataset in NCP
            for setting in SETTINGS
        ]
        open_ones = [(a, b) for a, b in pairs if b > 0 or a > 0]
        lower = sum(a < b for a, b in open_ones)
        ratios = [a / b for a, b in open_ones if b > 0]
        text = f"{ours} is below {theirs} in {lower} of {len(open_ones)} cells"
        text += f"; {min(ratios):.2f} to {max(ratios):.2f} times" if ratios else ""
        ties = len(pairs) - len(open_ones)
        return lower == len(open_ones), text + (f"; both are 0 in {ties}" if ties else "")

    return check


def _printed_row(method: str, ours: str) -> Check:
    """Check whether a printed row is what a method gives, to the digits printed."""

    def check(results: Results) -> tuple[bool, str]:
        gaps = {
            dataset: [
                abs(cell(results, dataset, ours, setting) - at(dataset, method, setting))
                for setting in SETTINGS
            ]
            for dataset in NCP
        }
        every = [gap for found in gaps.values() for gap in found]
        equal = sum(gap <= DIGITS * 1.001 for gap in every)
        largest = ", ".join(f"{max(found):.4f} on {dataset}" for dataset, found in gaps.items())
        text = f"{equal} of {len(every)} cells of {ours} equal the printed ones"
        return equal == len(every), f"{text}; largest difference {largest}"

    return check


def _baseline(results: Results) -> tuple[bool, str]:
    taken = chosen(results)
    words = []
    for dataset, file in taken.items():
        row = results.where("files", file=file)[0]
        words.append(f"{dataset}: {row['cells equal']} of {len(SETTINGS)} cells equal on {file}")
    strict = max(cell(results, dataset, MONDRIAN, (1, 1)) for dataset in NCP)
    text = f"Mondrian at (1, 1) is {strict:.4f} everywhere; a Mondrian that tries one cut only gives "
    return strict > 0, text + "; ".join(words)


def _below_printed(results: Results) -> tuple[bool, str]:
    pairs = [
        (cell(results, dataset, REPAIRED, setting), at(dataset, "Proposed", setting))
        for dataset in NCP
        for setting in SETTINGS
    ]
    lower = sum(ours < theirs for ours, theirs in pairs)
    equal = sum(ours == theirs for ours, theirs in pairs)
    ratios = [ours / theirs for ours, theirs in pairs if theirs > 0]
    text = f"{REPAIRED} is below in {lower} of {len(pairs)} cells and equal in {equal}"
    return lower + equal == len(
        pairs
    ), f"{text}; {min(ratios):.2f} to {max(ratios):.2f} times the printed figure"


def _bank_gain(results: Results) -> tuple[bool, str]:
    bank, setting = "Bank Marketing", (5, 2)
    printed = at(bank, "Proposed", setting) / at(bank, "Mondrian", setting)
    mondrian = cell(results, bank, MONDRIAN, setting)
    ratios = {name: cell(results, bank, name, setting) / mondrian for name in (LITERAL, REPAIRED)}
    found = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    text = f"{1 - printed:.1%} by the printed cells; times Mondrian's NCP: {printed:.2f} printed, {found}"
    return ratios[LITERAL] <= printed, text


def _rising_gains(results: Results) -> tuple[bool, str]:
    good, count = 0, 0
    for dataset in ("Heart Disease", "Student Performance"):
        for setting in SETTINGS[1:]:
            good += cell(results, dataset, REPAIRED, setting) < cell(results, dataset, MONDRIAN, setting)
            count += 1
    return good == count, f"{REPAIRED} is below Mondrian at {good} of {count} settings"


def _anomaly(results: Results) -> tuple[bool, str]:
    found = {name: _curve(results, "Bank Marketing", name) for name in (MONDRIAN, REPAIRED)}
    text = "; ".join(
        f"{name}: {curve[1]:.4f} at (2, 2), {curve[2]:.4f} at (5, 2)" for name, curve in found.items()
    )
    reason = "what keeps (5, 2) keeps (2, 2), so the least NCP cannot be higher at (2, 2)"
    return all(curve[1] > curve[2] for curve in found.values()), f"{text}; {reason}"


def _falls_with_k(results: Results) -> tuple[bool, str]:
    curve = _curve(results, "Bank Marketing", REPAIRED)[1:]
    return curve[-1] < curve[0], f"NCP goes from {curve[0]:.4f} at k = 2 to {curve[-1]:.4f} at k = 10"


def _monotone(results: Results) -> tuple[bool, str]:
    steps = [
        b >= a
        for dataset in ("Heart Disease", "Student Performance")
        for name in (MONDRIAN, REPAIRED, LITERAL)
        for a, b in pairwise(_curve(results, dataset, name))
    ]
    return all(steps), f"rises at {sum(steps)} of {len(steps)} steps, three methods on two data sets"


def _kept(results: Results) -> tuple[bool, str]:
    rows = [row for row in results.rows["table-2"] if row["method"] in (REPAIRED, LITERAL)]
    good = sum(row["smallest"] >= row["k"] and row["least diverse"] >= row["l"] for row in rows)
    return good == len(rows), f"every class has k records and l values in {good} of {len(rows)} partitions"


def _dominated(results: Results) -> tuple[bool, str]:
    held, words = True, []
    for file in chosen(results).values():
        rows = results.where("weights", file=file)
        most = max(rows, key=lambda row: row["values"])
        held &= most["cardinality"] <= 1 / len(rows)
        words.append(
            f"{most['column']} ({most['values']} values) has {most['cardinality']:.0%} of the weight"
        )
    return held, "; ".join(words)


def _numbers_lose_less(results: Results) -> tuple[bool, str]:
    pairs = [
        (cell(results, "Student Performance", name, (5, 2)), cell(results, "Bank Marketing", name, (5, 2)))
        for name in (REPAIRED, LITERAL)
    ]
    text = "; ".join(
        f"{name}: Student {student:.3f}, Bank {bank:.3f}"
        for name, (student, bank) in zip((REPAIRED, LITERAL), pairs, strict=True)
    )
    return all(student < bank for student, bank in pairs), text


def _ablated(results: Results, variant: str, factor: str, file: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in results.where("ablation", variant=variant, factor=factor, file=file):
        found.setdefault(row["setting"], []).append(row)
    return found


def _clustering_helps(results: Results) -> tuple[bool, str]:
    better, count, ratios = 0, 0, []
    for file in chosen(results).values():
        for rows in _ablated(results, "paper", "eps", file).values():
            by_value = {row["value"]: row["ncp"] for row in rows}
            ratios.append(by_value["elbow"] / by_value["no clustering"])
            better += ratios[-1] < 1
            count += 1
    text = f"clusters of the elbow lose less than none at {better} of {count} settings"
    return better == count, f"{text}; {min(ratios):.2f} to {max(ratios):.2f} times"


def _some_eps_helps(results: Results) -> tuple[bool, str]:
    better, count = 0, 0
    for file in chosen(results).values():
        for rows in _ablated(results, "repaired", "eps", file).values():
            none = next(row["ncp"] for row in rows if row["value"] == "no clustering")
            better += min(row["ncp"] for row in rows) < none
            count += 1
    return better == count, f"some eps beats no clustering at {better} of {count} settings (repaired)"


def _eps_matters(results: Results) -> tuple[bool, str]:
    ratios = []
    for file in chosen(results).values():
        for rows in _ablated(results, "paper", "eps", file).values():
            found = [row["ncp"] for row in rows if row["clusters"] is not None]
            ratios.append(max(found) / min(found))
    strong = sum(ratio > STRONG for ratio in ratios)
    text = f"the worst eps loses {min(ratios):.1f} to {max(ratios):.1f} times the best"
    return 2 * strong > len(ratios), f"{text}, above {STRONG} at {strong} of {len(ratios)} settings"


def _order_matters(results: Results) -> tuple[bool, str]:
    ratios = []
    for dataset, file in chosen(results).items():
        if dataset == "Student Performance":
            continue
        for variant in ("paper", "repaired"):
            for rows in _ablated(results, variant, "order", file).values():
                found = [row["ncp"] for row in rows]
                ratios.append(max(found) / min(found))
    return max(ratios) > 1, f"the worst order loses {min(ratios):.2f} to {max(ratios):.2f} times the best"


def _masking(results: Results) -> tuple[bool, str]:
    better, count = 0, 0
    for file in chosen(results).values():
        for rows in _ablated(results, "paper", "noise", file).values():
            by_value = {row["value"]: row["ncp"] for row in rows}
            better += min(by_value["keep"], by_value["mask"]) <= min(by_value.values())
            count += 1
    return better == count, f"keeping or masking noise loses least at {better} of {count} settings"


def _no_numbers_needed(results: Results) -> tuple[bool, str]:
    rows = [row for row in results.rows["ablation"] if row["value"] == "elbow"]
    counts = sorted({row["clusters"] for row in rows})
    return len(counts) > 1, f"{counts[0]} to {counts[-1]} clusters, found and not given"


def _best_cut(results: Results) -> tuple[bool, str]:
    ratios = []
    for row in results.where("ablation", variant="paper", factor="eps", value="no clustering"):
        widest = results.where("table-2", file=row["file"], setting=row["setting"], method=MONDRIAN)[0]
        ratios.append(row["ncp"] / widest["ncp"])
    lower = sum(ratio < 1 for ratio in ratios)
    text = f"cuts by LIL lose less than medians of the widest column at {lower} of {len(ratios)} settings"
    return lower == len(ratios), f"{text}; {min(ratios):.2f} to {max(ratios):.2f} times"


def _expensive(results: Results) -> tuple[bool, str]:
    rows = results.rows["growth"]
    per = [row["microseconds per n log2 n"] for row in rows]
    last = rows[-1]
    text = f"{last['records']:,} records in {last['seconds']:.2f} s of one core; per n log n, "
    return per[-1] > 2 * per[
        0
    ], text + f"{per[-1] / per[0]:.2f} times what {rows[0]['records']:,} records take"


def _parallel(results: Results) -> tuple[bool, str]:
    rows = results.rows["growth"]
    same = sum(row["threads change nothing"] for row in rows)
    return same == len(rows), f"threads give the partition of one core at {same} of {len(rows)} sizes"


def _closer(results: Results) -> tuple[bool, str]:
    rows = [row for row in results.rows["models"] if row["model"].startswith("t-closeness")]
    held = all(row["holds"] and row["achieved"] < row["achieved without"] for row in rows)
    words = [f"{row['file']}: t from {row['achieved without']:.2f} to {row['achieved']:.2f}" for row in rows]
    return held, "; ".join(words)


def _task_aware(results: Results) -> tuple[bool, str]:
    held, words = True, []
    for file in chosen(results).values():
        rows = results.where("task", file=file)
        plain, best = rows[0], max(rows, key=lambda row: row["information gain"])
        held &= best["share"] > 0
        words.append(
            f"{file}: from {plain['information gain']:.3f} to {best['information gain']:.3f} bits "
            f"as NCP goes from {plain['ncp']:.3f} to {best['ncp']:.3f}"
        )
    return held, "; ".join(words)


NOT_MEASURED = "the paper does not measure it, and NCP is about quasi-identifiers only"
OTHERS = "about works that the paper cites, which it does not run"

CLAIMS = (
    Claim(
        "abstract, V.C, VI",
        "DOP as described always has lower NCP than the classical Mondrian",
        _beside(LITERAL, MONDRIAN),
    ),
    Claim(
        "abstract, V.C, VI",
        "DOP (with shoal's repairs) always has lower NCP than the classical Mondrian",
        _beside(REPAIRED, MONDRIAN),
    ),
    Claim("table II", "Mondrian's NCP is above 0 at (1, 1)", _baseline),
    Claim("table II", "Mondrian's NCP", _printed_row("Mondrian", MONDRIAN)),
    Claim("table II", "the proposed method's NCP", _printed_row("Proposed", LITERAL)),
    Claim("table II", "the proposed method's NCP, or less, can be reached", _below_printed),
    Claim("V.C", "29% better than Mondrian on Bank Marketing at (5, 2)", _bank_gain),
    Claim("V.C", "lower on Heart Disease and Student Performance too, at rising k", _rising_gains),
    Claim(
        "V.C",
        "improvements are stronger where attributes are mixed or continuous",
        why_not="all three data sets are mixed or numeric: there is none to compare with",
    ),
    Claim("V.C", "on Bank Marketing (2, 2) loses more, because the sensitive column is binary", _anomaly),
    Claim("V.C", "there, DOP's NCP falls as k grows", _falls_with_k),
    Claim("V.D", "on Heart Disease and Student Performance NCP rises with (k, l)", _monotone),
    Claim("IV, V.D", "the classes keep the privacy that was asked for", _kept),
    Claim("IV.A", "Eq. 1 keeps attributes of high cardinality from dominating the distance", _dominated),
    Claim("IV.A", "numbers given to categories may not carry their meaning", _order_matters),
    Claim("IV.A", "noise is best kept as one partition, or masked", _masking),
    Claim("abstract, I, IV", "no number of clusters has to be given", _no_numbers_needed),
    Claim(
        "IV, V.D", "clusters first, outliers apart: less loss than without (as described)", _clustering_helps
    ),
    Claim("IV, V.D", "clusters first: less loss than without, for some eps (repaired)", _some_eps_helps),
    Claim(
        "IV, V.D",
        "DBSCAN suits anonymization better than k-means",
        why_not="the paper does not run k-means",
    ),
    Claim("V.D", "the exhaustive search loses less than cutting the widest column", _best_cut),
    Claim("V.D", "data sets of numbers lose less than those with categories", _numbers_lose_less),
    Claim(
        "V.D",
        "few quasi-identifiers among many attributes keep more utility",
        why_not=NOT_MEASURED,
    ),
    Claim("V.D", "the exhaustive search limits how large a table may be", _expensive),
    Claim("V.D, VI", "parallel processing is possible without another result", _parallel),
    Claim("V.D", "DBSCAN is highly sensitive to eps", _eps_matters),
    Claim("VI", "t-closeness as a constraint resists inference better", _closer),
    Claim("V.D, VI", "information gain in the objective keeps the task's information", _task_aware),
    Claim(
        "VI",
        "differential privacy as a constraint would resist stronger attacks",
        why_not="future work: a partition chosen from the data has no epsilon to measure",
    ),
    Claim(
        "VI",
        "DOP would serve multi-modal and temporal data",
        why_not="future work on data the paper does not name",
    ),
    Claim("I, II", "encryption, Datafly, TADA and local recoding fall short", why_not=OTHERS),
    Claim("II", "k-anonymity alone does not stop attribute disclosure", why_not=OTHERS),
    Claim("abstract, V.D", "statistical relationships are preserved", why_not=NOT_MEASURED),
)
