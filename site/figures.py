"""Draws the pictures of the documents: site/figures.py update|check TREE MELDSIM.

docs/images has a picture for each link `images/NAME-N.svg`, where the Nth chart of `meldsim experiment NAME` is drawn, those
of TIMELINES, and those that the commands of RECIPES write. `update` writes them; `check` says which are not what is drawn today.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import commands
import timeline_picture

LINK = re.compile(r"images/([a-z0-9-]+?)-(\d+)\.svg\)")

# Pictures of timelines, each of the page that a command writes.
TIMELINES = {
    "timeline-melding.svg": "experiment melded-throughput",
    "timeline-tail.svg": "run --profile melded-tlc-8x8 --rw randrw --bs 16k --iodepth 8 --size 16m --timeline-slowest 1",
    "timeline-bus.svg": "run --profile melded-tlc-8x8 --rw read --bs 1m --size 1m --set bus.rate=200MT/s --read-pattern sequential",
}

# A page whose commands write its pictures.
RECIPES = "docs/how-to/recipes.md"


def linked(docs):
    """The experiments whose charts the documents show, each with their numbers."""
    charts = {}
    for page in sorted(docs.rglob("*.md")):
        for name, number in LINK.findall(page.read_text(encoding="utf-8")):
            charts.setdefault(name, set()).add(int(number))
    return charts


def drawn(docs, meldsim):
    """Every picture by its name, as it is drawn today."""
    pictures = {}
    for name, numbers in sorted(linked(docs).items()):
        with tempfile.TemporaryDirectory(prefix="meld-figures-") as folder:
            subprocess.run([meldsim, "experiment", name, "--figures", folder], check=True, stdout=subprocess.DEVNULL)
            for number in sorted(numbers):
                picture = f"{name}-{number}.svg"
                pictures[picture] = (Path(folder) / picture).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="meld-timelines-") as folder:
        page = Path(folder) / "page.html"
        for picture, command in TIMELINES.items():
            command = [meldsim, *command.split(), "--timeline", page]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            pictures[picture] = timeline_picture.draw(page.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="meld-recipes-") as folder:
        for block in commands.blocks(docs.parent, RECIPES):
            code, _, errors = commands.run("\n".join(block.lines), folder, meldsim)
            if code:
                sys.exit(f"{RECIPES}:{block.line}: exits with {code}: {errors.strip()}")
        for picture in sorted(Path(folder).glob("*.svg")):
            pictures[picture.name] = picture.read_text(encoding="utf-8")
    return pictures


def main(what, tree, meldsim):
    docs = Path(tree).resolve() / "docs"
    images = docs / "images"
    pictures = drawn(docs, Path(meldsim).resolve())
    stale = [
        name
        for name, text in pictures.items()
        if not (images / name).is_file() or (images / name).read_text(encoding="utf-8") != text
    ]
    unused = [path.name for path in sorted(images.glob("*.svg")) if path.name not in pictures]
    if what == "update":
        for name in stale:
            (images / name).write_text(pictures[name], encoding="utf-8")
        for name in unused:
            (images / name).unlink()
        print(f"{len(pictures)} pictures, {len(stale)} drawn anew, {len(unused)} removed")
        return 0
    for name in stale:
        print(f"docs/images/{name} is not what is drawn today: ./meld docs --update draws it")
    for name in unused:
        print(f"docs/images/{name} is shown by no document")
    print(f"{len(pictures)} pictures, {len(stale) + len(unused)} faults")
    return 1 if stale or unused else 0


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("update", "check"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
