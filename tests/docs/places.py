#!/usr/bin/env python3
"""places.py ROOT: what the documentation points to is there.

- Links of Markdown files, and anchors of headings.
- Paths of the tree in `backticks` that begin with one of its directories.
- In compiler/, dsl-examples/, kernels/ and runtime/ every directory has a README.md, and no file that it
  names is absent. But for dsl-examples/, whose directories grow by a routine at a time, it names all
  of its files, by patterns where it likes (`sema*`, `bell.[ch]`); x.c stands for x.h and x.inc.c too.
"""
import fnmatch
import os
import re
import sys

TOP = ("compiler", "docs", "dsl-examples", "include", "kernels", "runtime", "tests", "tools")
PAGES_IN = ("compiler", "dsl-examples", "kernels", "runtime")
NAMED_IN = ("compiler", "kernels", "runtime")
SOURCE = (".c", ".cu", ".h", ".html", ".in", ".jdf", ".l", ".y")


def markdown_files(root):
    yield from (name for name in sorted(os.listdir(root)) if name.endswith(".md"))
    for top in TOP:
        for directory, _, names in os.walk(os.path.join(root, top)):
            yield from (os.path.relpath(os.path.join(directory, name), root)
                        for name in sorted(names) if name.endswith(".md"))


def without_blocks(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def anchors(text):
    headings = re.findall(r"^#+ +(.*?) *$", without_blocks(text), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def bad_links(root, path):
    """Links and paths of one Markdown file that lead nowhere."""
    text = without_blocks(open(os.path.join(root, path)).read())
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", link):
            continue
        target, _, anchor = link.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        if not os.path.exists(os.path.join(root, there)):
            yield "%s: no file for the link %s" % (path, link)
        elif anchor and anchor not in anchors(open(os.path.join(root, there)).read()):
            yield "%s: no heading for the link %s" % (path, link)
    for name in re.findall(r"`((?:%s)/[a-z0-9_./-]+)`" % "|".join(TOP), text):
        if not os.path.exists(os.path.join(root, name)):
            yield "%s: there is no %s" % (path, name)


def names(text):
    """Names of files in a text and patterns for them, `x` for all x.*."""
    words = {n for n in re.findall(r"[\w.*\[\]-]+", text) if re.search(r"\w\w.*[.*]", n)}
    return words | {n + ".*" for n in re.findall(r"`(\w+)`", text)}


def readme_faults(root, directory, all_files, named):
    """What the README.md of a directory of sources lacks, or names in vain."""
    path = os.path.join(directory, "README.md")
    if not os.path.exists(os.path.join(root, path)):
        yield "%s is missing" % path
        return
    text = open(os.path.join(root, path)).read()
    known = names(text)
    for name in sorted(os.listdir(os.path.join(root, directory))):
        stem = name.split(".")[0]
        if named and name.endswith(SOURCE) and not any(
                fnmatch.fnmatch(name, n) or re.fullmatch(re.escape(stem) + r"\.[\w.]+", n) for n in known):
            yield "%s does not name %s" % (path, name)
    for name in re.findall(r"`([a-z]\w+\.(?:c|cu|h))`", text):
        if name not in all_files:
            yield "%s names %s, which is nowhere" % (path, name)


def main():
    root = sys.argv[1]
    faults = [fault for path in markdown_files(root) for fault in bad_links(root, path)]
    everything = {name for top in TOP for _, _, found in os.walk(os.path.join(root, top))
                  for name in found}
    for top in PAGES_IN:
        for directory, _, found in os.walk(os.path.join(root, top)):
            if any(name.endswith(SOURCE) for name in found):
                faults += readme_faults(root, os.path.relpath(directory, root), everything,
                                        top in NAMED_IN)
    print("\n".join(faults) or "everything is there")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
