"""Keeps what the documents say of accuracy the same everywhere: site/accuracy.py check|update TREE, or record TREE MELDSIM.

Each number has one source:

    site/real-drives.json      what `meldsim experiment real-drives` says of drives on sale; `record` runs it, for minutes
    KEPT_BACK, below           the same of rows that nobody who fits profiles has seen; whoever has them enters it here
    the recorded output of     `meldsim validate`: how many claims hold
    docs/explanation/overhead.md and docs/reference/results.md, whose tables of measured values others quote

A page has a table between two marks, and a number before a mark that names it:

    <!-- accuracy: TABLE -->   as `tables` makes it
    <!-- end of accuracy -->
    2 %<!--=reads-->           as `facts` says it; a word or a number, with its percent sign

`update` writes both anew, `check` says where a page differs.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

PAGES = ("README.md", "docs/explanation/accuracy.md", "docs/reference/results.md", "docs/faq.md", "docs/explanation/safety.md")
RECORD = "site/real-drives.json"
VALIDATED = "native-sim/meldsim-cli/tests/it/recorded/validate-format-json.txt"
TABLE = re.compile(r"(<!-- accuracy: ([a-z-]+) -->\n).*?(<!-- end of accuracy -->)", re.DOTALL)
FACT = re.compile(r"([^\s|(*]+(?: %)?)(<!--=([a-z-]+)-->)")
# Words that were true of fewer drives than they say.
FALSE = re.compile(r"\bnine (?:drives|profiles)\b", re.IGNORECASE)

KEPT_BACK = {
    "kept-rows": "1,400",
    "reads-kept": "2 %",
    "saturated-kept": "3 %",
    "amplification-kept": "1 %",
    # In the median; and where reads queue behind writes, at worst.
    "beside-kept": "14 %",
    "beside-saturated-kept": "forty",
    "others-reads-kept": "82 %",
    "others-saturated-kept": "27 %",
}
# The drive without zones has the flash of the ZN540 and is simulated as it: it is no drive more.
SAME = {"WDCONV": "ZN540"}
WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()

RATES, READS, STEADY = "latency_by_offered_rate", "read_latency_by_depth", "steady_random_writes"
# What the short table and other pages say of drives, by the kinds of cells that it is of.
SAID = {
    "reads": ("random reads alone: IOPS, p50", ((READS, "IOPS and p50"),)),
    "saturated": ("random writes at full speed: IOPS", ((RATES, "saturated rate"),)),
    "amplification": (
        "write amplification",
        (("waf_by_fill", "write amplification"), ("waf_permutation_profile", "mean of a pass")),
    ),
    "beside": ("reads beside writes: p99", ((RATES, "read p99"),)),
}
# Rows of the long table: workload, value, where it comes from, and our word for it.
ROWS = (
    ("random reads alone, depth 1 to 256", "IOPS, p50", READS, "IOPS and p50", "good"),
    ("", "p99", READS, "p99", "good"),
    ("", "beyond p99", READS, "beyond p99", "fair"),
    ("reads beside writes, ZN540", "read mean", "mixed_read_write", "read mean", "good"),
    ("reads beside a write rate", "read p50", RATES, "read p50", "good"),
    ("", "read p99", RATES, "read p99", "fair"),
    ("saturated random writes", "rate", RATES, "saturated rate", "good"),
    ("", "latency of a write", RATES, "writes when saturated", "fair"),
    ("writes below saturation", "tails", RATES, "other means and percentiles", "**do not trust**"),
    ("steady uniform random writes", "rate", STEADY, "uniform", "good"),
    ("steady skewed random writes", "rate, 7450s", STEADY, "skewed, 7450s", "good"),
    ("", "rate, others", STEADY, "skewed, others", "fair"),
    ("fill against write amplification", "write amplification", "waf_by_fill", "write amplification", "good"),
    ("from a fresh drive to steady state", "rate", "init_series", "plateau", "good"),
    ("sequential writes", "rate", "sequential_write", "rate", "good"),
)  # fmt: skip


class Measured:
    """What was recorded of drives on sale."""

    def __init__(self, tree):
        sheets = json.loads((tree / RECORD).read_text(encoding="utf-8"))
        self.kinds = {(row["kind"], row["cells_of"]): row for row in sheets["by_kind"]}
        self.names = {}
        for row in sheets["by_drive"]:
            drive = SAME.get(row["drive"], row["drive"])
            self.names.setdefault((row["kind"], row["cells_of"]), set()).add(drive)

    def drives(self, *kinds):
        """How many drives such cells are of; of no kind, all of them."""
        return len(set().union(*(self.names[kind] for kind in kinds or self.names)))

    def median(self, *kinds):
        """Of several kinds the worst."""
        return f"{max(self.kinds[kind]['median_error'] for kind in kinds):.0f} %"


def facts(tree):
    """Every number that a page may quote."""
    measured = Measured(tree)
    claims = claims_by_kind(tree)
    missed = sum(checked - held for checked, held in claims.values())
    checked = sum(checked for checked, _ in claims.values())
    plugin, off = (shares(tree, f"`{mode}`, write and read") for mode in ("account", "off"))
    gain = cells(tree, "docs/reference/results.md", "1, the device's own speed")[2]
    found = re.fullmatch(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)", gain)
    return {
        **KEPT_BACK,
        "drives": WORDS[measured.drives()],
        **{name: measured.median(*kinds) for name, (_, kinds) in SAID.items()},
        **{f"{name}-drives": WORDS[measured.drives(*kinds)] for name, (_, kinds) in SAID.items()},
        "claims": str(checked),
        "claims-missed": WORDS[missed],
        "account-write": plugin[0],
        "account-read": plugin[1],
        "off-write": off[0],
        "off-read": off[1],
        "gain-median": found[1],
        "gain-least": found[2],
        "gain-most": found[3],
    }


def cells(tree, page, first):
    """The cells of the row of a page's table that begins so."""
    for line in (tree / page).read_text(encoding="utf-8").splitlines():
        row = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and row[0].startswith(first):
            return row
    sys.exit(f"{page}: no row of a table begins with {first}")


def shares(tree, first):
    values = cells(tree, "docs/explanation/overhead.md", first)[2]
    return [f"{100 * float(value):.1f} %" for value in values.split(", ")]


def claims_by_kind(tree):
    """Of each kind, how many claims were checked and how many hold."""
    text = (tree / VALIDATED).read_text(encoding="utf-8")
    recorded, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    return {row["kind"]: (row["checked"], row["held"]) for row in recorded["by_kind"]}


def tables(tree):
    measured, fact = Measured(tree), facts(tree)
    short = [
        "| what | drives | off by, in the median | on rows kept back |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, (title, kinds) in SAID.items():
        short.append(f"| {title} | {measured.drives(*kinds)} | {fact[name]} | {fact[name + '-kept']} |")
    short.append(f"| the same where writes saturate | | | up to {fact['beside-saturated-kept']} times |")
    long = [
        "| workload | value | drives | cells | median | 90 % below | |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for workload, value, *kind, word in ROWS:
        row, drives = measured.kinds[tuple(kind)], measured.drives(tuple(kind))
        median, most = (f"{row[key]:.1f} %" for key in ("median_error", "p90_error"))
        long.append(f"| {workload} | {value} | {drives} | {row['cells']} | {median} | {most} | {word} |")
    long.append("| sequential reads | rate | | | | | the data sheet's, put in as `host.link_rate` |")
    kinds = {
        "predicted": ("nothing of it was used", "the model gives what it was not told"),
        "fitted": ("constants or a choice were fitted to it", "one set of constants meets many numbers"),
        "construction": ("it follows from how the device is built", "the model does what it is described to do"),
        "input": ("it was put in", "nothing is lost on the way"),
    }
    claims = ["| kind | hold | what that shows |", "| --- | --- | --- |"]
    for kind, (how, shows) in kinds.items():
        checked, held = claims_by_kind(tree)[kind]
        claims.append(f"| *{kind}*: {how} | {held} of {checked} | {shows} |")
    return {"short": short, "long": long, "claims": claims}


def quoted(tree, text):
    """A page with its tables and numbers as they are today, and the marks that name nothing."""
    known, made, unknown = facts(tree), tables(tree), []

    def table(match):
        if match[2] not in made:
            unknown.append(match[1].strip())
            return match[0]
        return match[1] + "\n".join(made[match[2]]) + "\n" + match[3]

    def fact(match):
        if match[3] not in known:
            unknown.append(match[2])
            return match[0]
        value = known[match[3]]
        return (value.capitalize() if match[1][0].isupper() else value) + match[2]

    return FACT.sub(fact, TABLE.sub(table, text)), unknown


def main(what, tree, *meldsim):
    tree = Path(tree).resolve()
    if what == "record":
        # It exits with 1 where a bar is missed, which the table says.
        run = subprocess.run([*meldsim, "--quiet", "experiment", "real-drives", "--format", "json"], capture_output=True, check=False)
        sheets = json.loads(run.stdout)["sheets"]
        kept = ("drive", "kind", "cells_of", "cells", "median_error", "p90_error")
        def line(row):
            tenths = ((key, round(row[key], 1) if isinstance(row[key], float) else row[key]) for key in kept if row.get(key) not in (None, ""))
            return json.dumps(dict(tenths))

        lines = {sheet: map(line, sheets[sheet]) for sheet in ("by_kind", "by_drive")}
        listed = (f'  "{sheet}": [\n    ' + ",\n    ".join(rows) + "\n  ]" for sheet, rows in lines.items())
        (tree / RECORD).write_text("{\n" + ",\n".join(listed) + "\n}\n", encoding="utf-8")
        return 0
    faults = []
    for page in PAGES:
        text = (tree / page).read_text(encoding="utf-8")
        today, unknown = quoted(tree, text)
        faults += [f"{page}: no such number: {mark}" for mark in unknown]
        if today == text and not FACT.search(text):
            faults.append(f"{page}: quotes no number of site/accuracy.py")
        faults += [f"{page}: \"{found}\": say of which drives" for found in FALSE.findall(text)]
        if what == "update":
            (tree / page).write_text(today, encoding="utf-8")
            continue
        pairs = zip(text.splitlines(), today.splitlines(), strict=False)
        differs = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if text != today:
            faults.append(f"{page}: stale: ./meld docs --update writes it\n- {differs and differs[0]}\n+ {differs and differs[1]}")
    for fault in faults:
        print(fault)
    print(f"what {len(PAGES)} pages say of accuracy: {len(faults)} faults")
    return int(bool(faults))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("check", "update", "record") or (sys.argv[1] == "record") != (len(sys.argv) == 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
