"""Counts the lines of the code, by part, and the words of the documents: site/lines.py TREE."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from words import words

# Folders of Rust that no product has, and files of tests beside the code that they test.
UNPRODUCTIVE = re.compile(r"(^|/)(tests?|benches|examples|fuzz|[^/]*-testing)/|/tests\.rs$")
TEST = "#[cfg(test)]"


def files(tree, pattern):
    listed = ["git", "-C", tree, "ls-files", "--cached", "--others", "--exclude-standard", pattern]
    names = set(subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\n"))
    return sorted(name for name in names if name and (tree / name).exists())


def without_tests(lines):
    """Leaves out each item under `#[cfg(test)]`: up to the brace that closes it at its own indent, or its semicolon."""
    lines = iter(lines)
    for line in lines:
        if line.strip() != TEST:
            yield line
            continue
        end = line[: line.index("#")] + "}"
        for number, item in enumerate(lines):
            if item.rstrip() == end or (number == 0 and item.rstrip().endswith(";")):
                break


def show(title, counts):
    print(f"{title}: {sum(counts.values())}")
    for name, count in counts.most_common():
        print(f"  {count:6} {name}")


def main(tree):
    tree = Path(tree).resolve()
    rust, java, all_rust = Counter(), Counter(), 0
    for name in files(tree, "*.rs"):
        lines = (tree / name).read_text(encoding="utf-8").splitlines()
        all_rust += len(lines)
        if not UNPRODUCTIVE.search(name):
            rust[re.split(r"/src/|/\w+\.rs$", name)[0]] += sum(1 for _ in without_tests(lines))
    for name in files(tree, "*.java"):
        module, is_main, _ = name.partition("/src/main/")
        if is_main:
            java[module] += len((tree / name).read_text(encoding="utf-8").splitlines())
    show("lines of Rust without tests, benches, examples and fuzz", rust)
    print(f"lines of all *.rs: {all_rust}")
    show("lines of Java in src/main", java)
    print(f"words of README.md: {words(tree / 'README.md')}")
    print(f"words of docs: {words(tree / 'docs')}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
