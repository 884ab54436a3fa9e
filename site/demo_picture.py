"""Draws the result of a demo as a picture.

site/demo_picture.py record RESULT.json DEMO.json    keeps of `./meld demo --json RESULT.json` what the picture shows
site/demo_picture.py draw DEMO.json DEMO.svg
"""

import json
import sys
from html import escape
from pathlib import Path

WIDTH, LEFT, BAR, RIGHT = 720, 200, 20, 90
# Of the bars' width, for the longest gain: words follow it.
GAIN_SHARE = 0.4
# The colours of the simulator's charts for normal and melded data; each bar is named beside it, and the melded ones are hatched.
STYLE = """svg{background:#fff;font:14px system-ui,sans-serif}text{fill:#1b1f24}.soft{fill:#59636e;font-size:12px}
.title{font-weight:600;font-size:16px}.head{font-weight:600}.normal{fill:#0072b2;stroke:#1b1f24}.melded{fill:#e69f00;stroke:#1b1f24}
.published{fill:#fff;stroke:#1b1f24;stroke-width:2;stroke-dasharray:5 4}.hatch{stroke:#000;stroke-width:1.2}
@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.soft{fill:#9aa5b1}.published{fill:#0d1117;stroke:#e6edf3}}"""


def record(full):
    """What the picture shows, and where it comes from."""
    result = full["result"]
    variant = lambda v: {
        "deviceMibPerSecond": v["all"]["mibPerSecond"],
        "endToEndMibPerSecond": v["endToEndMibPerSecond"],
        "readerWaitShare": v["readerWaitShare"],
    }
    return {
        "command": "./meld demo",
        "version": full["version"],
        "started": full["started"],
        "hadoopVersion": full["hadoopVersion"],
        "sparkVersion": full["sparkVersion"],
        "profile": result["profile"],
        "windowBytes": result["windowBytes"],
        "bytes": result["dataSets"][0]["bytes"],
        "dilation": result["melded"]["dilation"],
        "normal": variant(result["normal"]),
        "melded": variant(result["melded"]),
        "undilated": {
            "readerWaitShare": result["undilated"]["normal"]["readerWaitShare"],
            "gains": result["undilated"]["gains"],
        },
        "gainEndToEnd": result["gainEndToEnd"],
        "gainDevice": result["gainDevice"],
        "gainPublished": result["gainPublished"],
        "publishedSource": result["publishedSource"],
        "checksumsAgree": result["checksumsAgree"],
    }


def draw(demo):
    normal, melded = demo["normal"], demo["melded"]
    rates = [
        ("One device, reading", "simulated, MiB/s", "deviceMibPerSecond"),
        ("Spark, end to end", "simulated, MiB/s of device time", "endToEndMibPerSecond"),
    ]
    undilated = demo["undilated"]
    # Who waits so little has no more to gain.
    host_bound = min(max(1, demo["gainDevice"]), 1 / (1 - undilated["readerWaitShare"]))
    gains = [
        ("devices alone", demo["gainDevice"], "melded", "simulated"),
        ("devices at own speed", host_bound, "melded", f"at most: readers wait {undilated['readerWaitShare']:.1%}, measured"),
        ("slowed down", demo["gainEndToEnd"], "melded", f"simulated: readers wait {normal['readerWaitShare']:.0%}"),
        ("the paper's burst", demo["gainPublished"], "published", "published"),
    ]
    body = []
    y = 24

    def text(x, at, class_, what, anchor="start"):
        body.append(f'<text x="{x}" y="{at}" class="{class_}" text-anchor="{anchor}">{escape(what)}</text>')

    def bar(at, label, share, class_, value):
        width = round(share * (WIDTH - LEFT - RIGHT), 1)
        text(LEFT - 8, at + 15, "", label, "end")
        body.append(f'<rect x="{LEFT}" y="{at}" width="{width}" height="{BAR}" class="{class_}"/>')
        if class_ == "melded":
            marks = (f"M{x},{at + 19}l8,-18" for x in range(LEFT + 4, int(LEFT + width) - 10, 14))
            body.append(f'<path class="hatch" d="{"".join(marks)}"/>')
        text(round(LEFT + width + 6, 1), at + 15, "", value)

    text(12, y, "title", "A Spark job on HDFS: normal and melded pages of a simulated SSD")
    for heading, unit, key in rates:
        y += 34
        text(12, y, "head", heading)
        text(LEFT, y, "soft", unit)
        for name, variant in (("normal", normal), ("melded", melded)):
            y += 8
            bar(y, name, variant[key] / max(melded[rates[-1][2]], normal[rates[-1][2]]), name, f"{variant[key]:,.0f}")
            y += BAR
    y += 34
    text(12, y, "head", "Gain of melding")
    text(LEFT, y, "soft", "melded by normal; 1.00 is no gain")
    most = max(gain for _, gain, _, _ in gains)
    for label, gain, class_, kind in gains:
        y += 8
        bar(y, label, gain / most * GAIN_SHARE, class_, f"{gain:.2f}× {kind}")
        y += BAR
    y += 30
    waits = f"{normal['readerWaitShare']:.0%} and {melded['readerWaitShare']:.0%}"
    text(12, y, "soft", f"{demo['command']}, {demo['started'][:10]}, profile {demo['profile']}, {demo['bytes'] / 2**20:,.0f} MiB, time dilation {demo['dilation']:.0f}.")
    text(12, y + 17, "soft", f"Readers waited for the devices {waits} of their time (measured). HDFS {demo['hadoopVersion']} and Spark {demo['sparkVersion']} are stock.")
    height = y + 30
    label = f"Melded pages gain {demo['gainEndToEnd']:.2f} times end to end in simulation where readers wait for the device, {host_bound:.2f} times at most where the host is the limit; published is {demo['gainPublished']:.2f} times"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="{escape(label)}"><style>{STYLE}</style>\n' + "\n".join(body) + "\n</svg>\n"
    )


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("record", "draw"):
        sys.exit(__doc__)
    given = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    made = json.dumps(record(given), indent=2) + "\n" if sys.argv[1] == "record" else draw(given)
    Path(sys.argv[3]).write_text(made, encoding="utf-8")
