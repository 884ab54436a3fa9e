"""Counts the words of the documents, and shows idioms that readers stumble over: site/words.py TREE [--idioms].

More words than the ceilings are a fault. Idioms are none: they are shown, each with its place, for whoever writes next.
"""

import re
import sys
from pathlib import Path

# Words, as `wc -w` counts them.
CEILINGS = {"docs": 40_500, "README.md": 700, "docs/reference/results.md": 1_500}

IDIOMS = re.compile(
    r"(?:(?<=[.:;] )|^)What (?:is|was|are|were|it|they|comes|came|has|does|a|the|draws)\b[^?]*[.;:]"
    r"|\b(?:for want of|bars? off|takes? the dies|at work at a time|kept nowhere|leave the house|does nothing twice"
    r"|the file of before|no say|pulls less|reckon(?:ed|s)?|counts are counts|whoever|as its first line tells|so many commands"
    r"|shall find out|to speak of|as it goes on|the like of|broken off|with results in sight|to and fro|be it\b|be rid of)",
    re.IGNORECASE,
)
# What people read: documents whole, of code its texts, and of command lines their help.
READ = {
    ".": ("README.md", "CONTRIBUTING.md", "meld"),
    "docs": ("*.md",), "docker": ("*.md",), "release": ("*.md",),
    "native-sim": ("*.rs", "*.toml", "*.md"),
    "meldsim-hdfs": ("*.rs",),
    "hdfs-meld-plugin/src/main": ("*.java", "*.xml"),
    "spark-jobs": ("*.java", "*.md"),
    "demo/src/main": ("*.java",),
}  # fmt: skip
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
HELP = re.compile(r"^\s*/// (.*)")


def words(path):
    pages = sorted(path.rglob("*.md")) if path.is_dir() else [path]
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


def texts(path, line):
    if path.suffix in (".rs", ".java"):
        in_help = "-cli" in str(path) or "meld-top" in str(path)
        yield from TEXT.findall(line)
        yield from HELP.findall(line) if in_help else ()
    else:
        yield "" if line.lstrip().startswith("<!--") else line.strip().lstrip("#|-> ")


def idioms(tree):
    for folder, names in READ.items():
        found = (tree / folder).glob if folder == "." else (tree / folder).rglob
        for path in sorted(path for name in names for path in found(name)):
            if {"target", "tests"} & set(path.relative_to(tree).parts):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for text in texts(path, line):
                    for idiom in IDIOMS.finditer(text):
                        yield f"{path.relative_to(tree)}:{number}: {idiom[0][:100]}"


def main(tree, *options):
    tree = Path(tree).resolve()
    if "--idioms" in options:
        for place in idioms(tree):
            print(place)
        return 0
    counted = {name: words(tree / name) for name in CEILINGS}
    for name, count in counted.items():
        print(f"{name}: {count} words of at most {CEILINGS[name]}")
    return int(any(count > CEILINGS[name] for name, count in counted.items()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
