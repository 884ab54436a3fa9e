"""Runs the commands that the documents show: site/commands.py check|update TREE MELDSIM [PAGE...].

Every fenced block says what it is. A block of commands has the language `sh` and, on the line before it, a mark:

    <!-- run -->                run here, in a copy of the tree, block after block; each must exit with 0
    <!-- run by .ci/run -->     continuous integration runs each of its commands elsewhere
    <!-- not run: REASON -->    nobody runs it, and why

A block of another language is not run. One of the language `text` may be all that a command prints; `update` writes it anew:

    <!-- output of: COMMAND -->

A page has a copy of its own of the tree. There `./meld sim` and `meldsim` are the simulator that is given; any other command
of `./meld` is the tree's own.
"""

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MARK = re.compile(r"^ *<!-- (run|run by \.ci/run|not run: .+|output of: .+) -->$")
FENCE = re.compile(r"^ *(`{3,})(\S*)")
COMMAND = re.compile(r"^(\$ )?(\./meld|meldsim|cargo|hdfs|spark-submit|\./mvnw)\b")
PART = re.compile(r"^ *part \S+ ")  # of .ci/run, before a command
OUTPUT = "output of: "
SECONDS = 300


class Block:
    def __init__(self, page, line, language, mark):
        self.page, self.line, self.language, self.mark = page, line, language, mark
        self.lines = []
        self.printed = None

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def blocks(tree, page):
    """The fenced blocks of a page, each with its mark."""
    found, block, end, before = [], None, "", ""
    for number, line in enumerate((tree / page).read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if block is None and fence:
            mark = MARK.match(before)
            end = fence[1]
            block = Block(page, number, fence[2], mark[1] if mark else "")
        elif block is not None and line.strip() == end:
            found.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
        before = line
    return found


def commands(block):
    """The commands of a block, without comments, each on one line."""
    text = re.sub(r"\\\n\s*", "", "\n".join(block.lines))
    stripped = (re.sub(r"(^|\s+)#\s.*$", "", line).strip() for line in text.splitlines())
    return [line for line in stripped if line]


def fault(block, ci):
    """What is wrong with a block's language or mark, or None."""
    if not block.language:
        return "a block without a language: say sh for commands, text for what is no language"
    if block.language != "sh":
        if any(COMMAND.match(line) for line in block.lines):
            return f"commands in a block of language {block.language}: give it the language sh and a mark"
        if block.mark and not (block.mark.startswith(OUTPUT) and block.language == "text"):
            return f"the mark \"{block.mark}\" is for another kind of block"
        return None
    if not block.mark or block.mark.startswith(OUTPUT):
        return "commands without a mark: say <!-- run -->, <!-- run by .ci/run --> or <!-- not run: REASON -->"
    if block.mark == "run by .ci/run":
        missing = [command for command in commands(block) if not any(line.startswith(command) for line in ci)]
        if missing:
            return f".ci/run does not run: {missing[0]}"
    return None


def copy(tree, to, meldsim):
    """The files that git knows, and ways to the simulator and to the tree's own `./meld`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=tree, check=True, capture_output=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (tree / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, to / name)
    (to / "meld").write_text(
        f'#!/bin/sh\n[ "$1" != sim ] || {{ shift; exec "{meldsim}" "$@"; }}\nexec "{tree}/meld" "$@"\n', encoding="utf-8"
    )


def run(command, folder, meldsim):
    """Runs a script in bash; its exit code and what it wrote."""
    path = f"{meldsim.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return done.returncode, done.stdout, done.stderr


def check(block, folder, meldsim):
    """Runs a block, or the command that prints it; what went wrong, or None."""
    if block.language == "sh":
        code, out, err = run("\n".join(block.lines), folder, meldsim)
        return None if code == 0 else f"exit code {code}\n{out[-1000:]}{err[-2000:]}"
    command = block.mark.removeprefix(OUTPUT)
    code, out, err = run(command, folder, meldsim)
    if code != 0:
        return f"{command}: exit code {code}\n{err[-2000:]}"
    block.printed = [line.rstrip() for line in out.rstrip().splitlines()]
    pairs = itertools.zip_longest(block.lines, block.printed, fillvalue="")
    differs = next((pair for pair in pairs if pair[0] != pair[1]), None)
    return differs and f"stale: ./meld docs --update writes it\n- {differs[0]}\n+ {differs[1]}"


def update(tree, page, blocks_run):
    """Writes the outputs that were printed into the page."""
    lines = (tree / page).read_text(encoding="utf-8").splitlines()
    for block in reversed(blocks_run):
        if block.printed is not None:
            lines[block.line : block.line + len(block.lines)] = block.printed
    (tree / page).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(what, tree, meldsim, pages):
    tree, meldsim = Path(tree).resolve(), Path(meldsim).resolve()
    if not pages:
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=tree, check=True, capture_output=True, text=True)
        pages = [page for page in listed.stdout.splitlines() if (tree / page).is_file()]
    ci = [PART.sub("", line).strip() for line in (tree / ".ci/run").read_text(encoding="utf-8").splitlines()]
    failed, ran, marked = 0, 0, 0
    for page in pages:
        found = blocks(tree, page)
        faults = [(block, fault(block, ci)) for block in found]
        for block, message in faults:
            if message:
                failed += 1
                print(f"{block.place}: {message}")
        marked += sum(block.mark.startswith(("not run", "run by")) for block in found)
        sound = [block for block, message in faults if not message]
        to_run = [block for block in sound if block.mark.startswith(OUTPUT) or block.mark == "run"]
        if what == "update":
            # What makes the files that a later block needs runs too; what comes after the last output does not.
            outputs = [at for at, block in enumerate(to_run) if block.mark.startswith(OUTPUT)]
            to_run = to_run[: outputs[-1] + 1] if outputs else []
        if not to_run:
            continue
        with tempfile.TemporaryDirectory(prefix="meld-docs-") as folder:
            copy(tree, Path(folder), meldsim)
            for block in to_run:
                start = time.monotonic()
                try:
                    message = check(block, folder, meldsim)
                except subprocess.TimeoutExpired:
                    message = f"not done after {SECONDS} s"
                ran += 1
                if what == "update" and block.printed is not None:
                    message = None
                failed += message is not None
                took = time.monotonic() - start
                print(f"{block.place}: {'FAILED, ' + message if message else f'done in {took:.1f} s'}", flush=True)
        if what == "update":
            update(tree, page, to_run)
    print(f"{ran} blocks run, {marked} not run here, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("check", "update"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
