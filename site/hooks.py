"""Makes the links of the documents work in the site, and adds the API documents.

The documents are read on a code host too, so they link to files of the tree outside of docs/. The site gets a page for each
such file: a Markdown file as it is, any other as a block of code. A link to nothing stays as it is, and the strict build
refuses it.

A link to the file that stands for an API leads to that API's documents. Those of Python are a page that is made here; those of
Rust and Java are in target/site-api when `./meld docs` has made them.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

TREE = Path(__file__).resolve().parent.parent
DOCS = "docs/"
SOURCE = "source/"
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
API = "api/"
API_FILES = TREE / "target" / "site-api"
# The file that stands for an API, and the first page of its documents.
API_PAGES = {
    "native-sim/python/meldsim/__init__.py": "api/python.md",
    "native-sim/model/meldsim/src/lib.rs": "api/rust/meldsim/index.html",
    "native-sim/java/src/main/java/org/hdfsmeld/sim/package-info.java": "api/java/org/hdfsmeld/sim/package-summary.html",
}
FENCE = re.compile(r"^( *```.*?^ *```[^\n]*$)", re.MULTILINE | re.DOTALL)
LANGUAGES = {".h": "c", ".rs": "rust", ".java": "java", ".py": "python", ".toml": "toml", ".json": "json", "": "bash"}


def on_files(files, config):
    """Adds the API documents, and a page for each file outside of docs/ that a page links to, and for those that these link to."""
    files.append(File.generated(config, "api/python.md", content="# Python API\n\n::: meldsim\n"))
    for path in sorted(API_FILES.rglob("*")):
        if path.is_file() and path.suffix != ".md":
            files.append(File(path.relative_to(API_FILES).as_posix(), str(API_FILES), config.site_dir, config.use_directory_urls))
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        page = waiting.pop()
        for target in sorted(_targets(page)):
            uri = _uri(target)
            if uri.startswith(API) or target.startswith(DOCS) or files.get_file_from_path(uri):
                continue
            added = File.generated(config, uri, content=_content(target), inclusion=InclusionLevel.NOT_IN_NAV)
            files.append(added)
            waiting.append(added)
    return files


def on_page_markdown(markdown, page, config, files):
    """Turns paths of the tree into paths of the site."""

    def turned(match):
        target = _target(page.file, match[2])
        if target is None:
            return match[0]
        path = posixpath.relpath(_uri(target), posixpath.dirname(page.file.src_uri) or ".")
        return f"{match[1]}{path}{match[3] or ''}{match[4]}"

    return _outside_fences(markdown, lambda text: LINK.sub(turned, text))


def _outside_fences(markdown, change):
    parts = FENCE.split(markdown)
    return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))


def _targets(page):
    links = []
    _outside_fences(page.content_string, lambda text: links.extend(LINK.findall(text)) or text)
    targets = (_target(page, link[1]) for link in links)
    return {target for target in targets if target}


def _target(page, link):
    """The file of the tree that `link` on `page` means, as a path from the tree's root; None when there is none."""
    if re.match(r"[a-z]+:", link):
        return None
    uri = page.src_uri
    here = uri[len(SOURCE) :].removesuffix(".code.md") if uri.startswith(SOURCE) else DOCS + uri
    target = posixpath.normpath(posixpath.join(posixpath.dirname(here), link))
    if (TREE / target / "README.md").is_file():
        target += "/README.md"
    return target if not target.startswith("..") and (TREE / target).is_file() else None


def _uri(target):
    api = API_PAGES.get(target)
    if api and (api.endswith(".md") or (API_FILES / api).is_file()):
        return api
    if target.startswith(DOCS):
        return target[len(DOCS) :]
    return SOURCE + target + ("" if target.endswith(".md") else ".code.md")


def _content(target):
    text = (TREE / target).read_text(encoding="utf-8")
    if target.endswith(".md"):
        return text
    language = LANGUAGES.get(Path(target).suffix, "text")
    return f"# {target}\n\n````{language}\n{text.rstrip()}\n````\n"
