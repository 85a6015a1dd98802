#!/usr/bin/python3 -B
"""The documents as a folder of their own, and as a site.

    site.py BUILD documents     writes BUILD/documents: the documents, figures and examples, and a page of
                                each model. This is what `make install` installs.
    site.py BUILD html          also makes BUILD/site of it, by mkdocs, with a page of each command and of
                                libloco's functions, and checks all links of the site.
"""

import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
GROUPS = ("Learn", "Do", "Look up", "Understand")  # of docs/index.md


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# --- the documents -----------------------------------------------------------------------------


def models(hiloco):
    """The names of the built-in models."""
    return re.findall(r"^(\w+) \((?:continuous|sampled)\): ", run(hiloco, "models"), re.M)


def rewritten(text, to):
    """A document whose links to the tree's sources, which are not beside it, are their names only."""
    def link(found):
        words, target = found.groups()
        path, hash_, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return found.group()
        if path == "../README.md":
            return f"[{words}](README.md{hash_}{anchor})"
        return found.group() if os.path.isfile(os.path.join(to, path)) else words
    return re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", link, text)


def write_documents(hiloco, to):
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "docs"), to,
                    ignore=shutil.ignore_patterns("man", "site", "*.sum", "__pycache__", ".pytest_cache"))
    names = models(hiloco)
    for name in names:
        write(f"{to}/models/{name}.md", run(hiloco, "models", name, "--markdown"))
    listed = re.sub(r"`(\w+)`", lambda found: f"[{found.group()}](models/{found.group(1)}.md)"
                    if found.group(1) in names else found.group(), read(f"{to}/models.md"))
    write(f"{to}/models.md", listed)
    readme = re.sub(r"\]\((?:docs/|(?=\.?\.?/))", "](", read(os.path.join(ROOT, "README.md")))
    write(f"{to}/README.md", readme.replace("docs/figure.png", "figure.png"))
    for name in os.listdir(to):
        if name.endswith(".md"):
            write(f"{to}/{name}", rewritten(read(f"{to}/{name}"), to))
    return names


# --- the site ----------------------------------------------------------------------------------


def title(path):
    return re.search(r"^# (.*)$", read(path), re.M).group(1).replace("`", "")


def write_manual(build, to):
    """A page for each man page, by mandoc. Returns {group: {name: path}}."""
    nav = {"Commands": {}, "Functions of libloco": {}}
    for folder in (f"{build}/man", os.path.join(ROOT, "docs/man")):
        for page in sorted(os.listdir(folder)):
            name, _, section = page.rpartition(".")
            if section not in ("1", "3", "7"):
                continue
            text = run("mandoc", "-T", "markdown", os.path.join(folder, page))
            text = re.sub(r"^# ", "## ", text.split("\n", 1)[1], flags=re.M)
            text = text.rsplit("\n", 2)[0]  # the line with system and date
            place = f"{'commands' if section == '1' else 'functions'}/{name}.md"
            write(f"{to}/{place}", f"# {name}\n{text}\n")
            nav["Commands" if section == "1" else "Functions of libloco"][name] = place
    return nav


def navigation(to, names, manual):
    index, nav = read(f"{to}/index.md"), [{"Documents": "index.md"}, {"Tour": "tour.md"}]
    for group in GROUPS:
        part = index.split(f"\n## {group}\n")[1].split("\n## ")[0]
        places = re.findall(r"\]\(([\w-]+\.md)\)", part)
        nav.append({group: [{title(f"{to}/{place}"): place} for place in places]})
    nav.append({"Models": [{name: f"models/{name}.md"} for name in sorted(names)]})
    for group, pages in manual.items():
        nav.append({group: [{name: pages[name]} for name in sorted(pages)]})
    return nav


def write_site(build, names):
    source, out = f"{build}/site-source", f"{build}/site"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(f"{build}/documents", source)
    shutil.copy(os.path.join(ROOT, "docs/site/hiloco.css"), source)
    os.rename(f"{source}/README.md", f"{source}/tour.md")  # mkdocs takes README.md for an index
    for folder, _, files in os.walk(source):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith(".md"):  # a page is called limits, not limits.md
                text = read(path).replace("[README.md](README.md", "[The tour](tour.md")
                text = text.replace("](README.md", "](tour.md")
                write(path, re.sub(r"\[`?([\w-]+)\.md`?\]\(", r"[\1](", text))
    manual = write_manual(build, source)
    configuration = json.loads(read(os.path.join(ROOT, "docs/site/mkdocs.json")))
    configuration |= {"docs_dir": os.path.abspath(source), "site_dir": os.path.abspath(out),
                      "nav": navigation(source, names, manual)}
    write(f"{build}/mkdocs.yml", json.dumps(configuration))  # JSON is YAML
    done = subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--clean", "-f", f"{build}/mkdocs.yml"],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"mkdocs failed:\n{done.stdout}{done.stderr}")
    return out


class Page(html.parser.HTMLParser):
    """The links of a page, and what can be linked in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(read(path))

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("id", "name"):
                self.ids.add(value)
            elif key in ("href", "src") and value is not None:
                self.links.append(value)


def dead_links(site):
    """Links to files or places that are not there."""
    pages = {os.path.join(folder, name): Page(os.path.join(folder, name))
             for folder, _, files in os.walk(site) for name in files if name.endswith(".html")}
    for path, page in pages.items():
        if os.path.basename(path) == "404.html":  # its links are from the site's root
            continue
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            there = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(url.path))) \
                if url.path else path
            there = os.path.join(there, "index.html") if os.path.isdir(there) else there
            if not os.path.exists(there):
                yield f"{os.path.relpath(path, site)}: {link} is not there"
            elif url.fragment and there in pages and \
                    urllib.parse.unquote(url.fragment) not in pages[there].ids:
                yield f"{os.path.relpath(path, site)}: {link} has no such place"


def main(build, what):
    names = write_documents(f"{build}/hiloco", f"{build}/documents")
    if what == "documents":
        return 0
    site = write_site(build, names)
    dead = sorted(set(dead_links(site)))
    print("\n".join(dead) or f"{site}/index.html")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
