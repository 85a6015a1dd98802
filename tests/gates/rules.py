#!/usr/bin/python3
"""The rules of the tree that no compiler checks.

    rules.py            names the rules
    rules.py RULE       checks one. Each finding is a line FILE:LINE: WHAT; the status is then 1
"""
import os
import re
import subprocess
import sys

LINE_MAX, LINE_MAX_OF_COMMANDS = 120, 160
LINES_MAX, LINES_MAX_OF_DOCUMENTS, LINES_MAX_OF_TESTS = 600, 900, 1600

FORBIDDEN = [
    (r"\b(TODO|FIXME|HACK)\b", "work that is not done"),
    (r"\b[Ii]ssue #?[0-9]+", "a number of a tracker, which readers of the tree do not have"),
]

THIS_FOLDER, ARCHITECTURE = "tests/gates/", "docs/architecture.md"

MAKEFILES = ["Makefile", "harness/packages.mk", "tests/tests.mk"]

# The exit status of a rule that needs a build, and has none.
NOTHING_TO_CHECK = 77


def list_files():
    """All files of the tree, as in a clean clone."""
    if os.path.exists(".git"):
        said = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True,
                              capture_output=True, text=True).stdout
        return [name for name in said.splitlines() if os.path.isfile(name)]
    found = []
    for at, folders, names in os.walk("."):
        folders[:] = [f for f in folders if at != "." or not re.match(r"build|results$|\.git$", f)]
        found += [os.path.join(at, name)[2:] for name in names]
    return found


def read(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


FILES = sorted(list_files())
TEXTS = {name: read(name) for name in FILES if not name.endswith((".png", ".h5"))
         and not name.startswith("tests/fuzz/corpus/")}


def code_of(text):
    """C without its comments and the contents of its strings; the lines keep their numbers."""
    def blank(found):
        whole = found.group()
        return whole if whole[0] == "'" else '""' if whole[0] == '"' else "\n" * whole.count("\n")
    return re.sub(r"""'(?:\\.|[^'\\\n])+'|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/""", blank, text,
                  flags=re.S)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


# The Makefile that hiloco wrap writes compiles all that is there.
WRAPPED = "docs/examples/generated/"


# --- the rules: each yields (file, line, what) ------------------------------------------------


def declarations():
    """A function that a header declares is defined, and used in another file than its own."""
    code = {name: code_of(text) for name, text in TEXTS.items()
            if name.endswith((".c", ".h", ".cpp", ".hpp"))}
    words = {name: set(re.findall(r"\b[A-Za-z_]\w*\b", text)) for name, text in code.items()}
    start = r"^(?!static\b|typedef\b|return\b)[A-Za-z_][\w\s*(),]*?"
    declared = re.compile(start + r"\b(?!sizeof|offsetof|__attribute__|tls_model)(\w+)\s*\([^;{}]*\)\s*;", re.M)
    defined = re.compile(start + r"\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)
    places = {}
    for name, text in code.items():
        for found in defined.finditer(text):
            places.setdefault(found.group(1), set()).add(name)
    for header, text in code.items():
        if header.startswith(WRAPPED):
            continue
        for found in declared.finditer(text) if header.endswith(".h") else ():
            function = found.group(1)
            users = {name for name in words if function in words[name]} - {header}
            places_of_it = places.get(function, set())
            line = line_of(text, found.start(1))
            if function == "LLVMFuzzerTestOneInput":
                continue
            if not places_of_it & users:
                yield header, line, f"{function}() is declared, and defined nowhere"
            elif not users - places_of_it and len(re.findall(rf"\b{function}\b", text)) < 2:
                yield header, line, f"{function}() is used in no other file than its own"


def files():
    """Each file is built, included, or named by another."""
    makefile = "".join(TEXTS[name] for name in MAKEFILES)
    globs = [re.compile(r"tests/sim/mutants/[\w-]+\.mutant\Z")]  # test_mutants.sh takes all
    globs += [re.compile(re.sub(r"[*%]", "[^/]*", re.escape(found).replace(r"\*", "*")) + r"\Z")
              for found in re.findall(r"\b\w[\w./*-]*/[\w./*-]*\*[\w./*-]*", makefile)]
    included = {os.path.basename(found) for name, text in TEXTS.items()
                for found in re.findall(r'#include [<"]([^>"]+)[>"]', text)}
    kept = (WRAPPED, "docs/man/", "tests/fuzz/corpus/", "harness/debian/", "tests/fmu/", "LICENSE", "README.md",
            "Makefile", ".ci/run", ".gitignore", ".clang-format")
    for name in FILES:
        base = os.path.basename(name)
        stem, kind = os.path.splitext(base)
        registered = kind == ".sh" and f"{os.path.dirname(name)}/run" in FILES  # see tests()
        if name.startswith(kept) or kind == ".sum" or base in included or registered or \
                any(pattern.match(name) for pattern in globs):
            continue
        if kind == ".c" and re.search(rf"\b{re.sub('^fuzz_', '', stem)}\b", makefile):
            continue
        word = re.compile((r"(?<![\w-])" if kind else "/") + re.escape(base) + r"(?![\w-])")
        if not any(base in text and word.search(text) for other, text in TEXTS.items()
                   if other != name and not other.endswith(".sum")):
            yield name, 1, "no other file builds, includes or names it"


def tests():
    """Each test is registered: its program's list has it."""
    makefile = "".join(TEXTS[name] for name in MAKEFILES)

    def list_of(variable):
        return re.search(rf"^{variable}\s*:=(.*)$", makefile, re.M).group(1).split()

    for folder, variable in (("tcp", "TCP_TESTS"), ("rdma", "RDMA_TESTS"),
                             ("launchers", "LAUNCHER_TESTS"), ("aarch64", "AARCH64_TESTS")):
        others = makefile + TEXTS[f"tests/{folder}/run"]
        for name in FILES:
            found = re.fullmatch(rf"tests/{folder}/(\w+)\.sh", name)
            if found and found.group(1) not in ["common", *list_of(variable)] and \
                    not re.search(rf"\b{found.group(1)}\.sh|\$\(ON_RDMA\) {found.group(1)}\b", others):
                yield name, 1, f"{variable} in the Makefile does not have it"
    fuzzers = list_of("FUZZERS")
    for name in FILES:
        found = re.fullmatch(r"tests/fuzz/fuzz_(\w+)\.c", name)
        if found and found.group(1) not in fuzzers:
            yield name, 1, "FUZZERS in the Makefile does not have it"
    for fuzzer in fuzzers:
        if not any(name.startswith(f"tests/fuzz/corpus/{fuzzer}/") for name in FILES):
            yield "Makefile", 1, f"tests/fuzz/corpus/{fuzzer} has no file"
    for name, text in TEXTS.items():
        if re.search(r"^(Test|ParameterizedTest)\(", text, re.M) and name.endswith(".c") and \
                not os.path.basename(name).startswith("test_"):
            yield name, 1, "a file with tests is called test_..."


def documents():
    """Each document, page and picture is linked from another document."""
    linked, named = set(), set()
    for name, text in TEXTS.items():
        if name.endswith(".md"):
            linked |= {os.path.normpath(os.path.join(os.path.dirname(name), target)) for target in
                       re.findall(r"\]\(([^)#\s]+)", text) if not target.startswith("http")
                       and os.path.normpath(os.path.join(os.path.dirname(name), target)) != name}
        if name.endswith((".md", ".1", ".3", ".7")):
            own = os.path.basename(name)[:-2]
            named |= {page for page in re.findall(r"(?:\.Xr |\bman (?:\d )?)([\w-]+)", text)
                      if page != own}
    index = TEXTS["docs/index.md"]
    for name in FILES:
        if re.fullmatch(r"docs/.*\.(md|png|svg)", name) and name not in linked:
            yield name, 1, "no document links to it"
        if re.fullmatch(r"docs/(?!index)[^/]*\.md", name) and index.count(f"({name[5:]})") != 1:
            yield name, 1, "docs/index.md has each document once"
        found = re.fullmatch(r"docs/man/(.+)\.[137]", name)
        if found and found.group(1) not in named:
            yield name, 1, "no other page refers to it"


def lines():
    """No line is over the limit, except rows of tables, output that is quoted, and data."""
    for name, text in TEXTS.items():
        if re.search(r"\.(sum|json|abi|xml|svg|gp)$", name):
            continue
        commands = re.search(r"(^|/)(Makefile|run|\w+\.(sh|css|mk))$", name)
        most = LINE_MAX_OF_COMMANDS if commands else LINE_MAX
        for number, line in enumerate(text.split("\n"), 1):
            free = name.endswith(".md") and (line.startswith(("|", "    ", "#")) or "](" in line)
            if len(line) > most and not free:
                yield name, number, f"{len(line)} letters; allowed: {most}"


def lengths():
    """No file is over the limit."""
    for name, text in TEXTS.items():
        most = LINES_MAX
        if name.startswith("tests/"):
            most = LINES_MAX_OF_TESTS
        elif re.search(r"\.(md|[137])$", name):
            most = LINES_MAX_OF_DOCUMENTS
        count = text.count("\n")
        if re.search(r"\.(c|h|hpp|js|css|py|sh|md|[137])$", name) and count > most:
            yield name, most, f"{count} lines; allowed: {most}"


def words():
    """No file has words that have no place in the tree."""
    for name, text in TEXTS.items():
        for pattern, why in FORBIDDEN if not name.startswith(THIS_FOLDER) else ():
            for found in re.finditer(pattern, text):
                yield name, line_of(text, found.start()), f"'{found.group()}': {why}"


def benchmarks():
    """The README's table has the rows of `bench --quick`, and each is a row of tests/bench."""
    tables = TEXTS["tests/bench/tables.c"]
    quick = re.findall(r'"(\w+)"', tables[tables.index("bench_quick"):])
    shown = re.findall(r"^\| .*\| `(\w+)` \|$", TEXTS["README.md"], re.M)
    if sorted(quick) != sorted(shown):
        yield "README.md", 1, f"its table has {', '.join(shown)}; bench_quick has {', '.join(quick)}"
    rows = "".join(text for name, text in TEXTS.items()
                   if name.startswith("tests/bench/") and name != "tests/bench/tables.c")
    for name in quick:
        if f'"{name}"' not in rows:
            yield "tests/bench/tables.c", 1, f"{name} of bench_quick is no benchmark"


def colours():
    """Colours are in one table, harness/base/looks.c; only the scope's desk has its own."""
    drawn = re.compile(r"^(traces|harness/figures|harness/tools/(page|report|scope))/")
    for name, text in TEXTS.items():
        if not drawn.match(name):
            continue
        for i, line in enumerate(text.splitlines(), 1):
            if re.search(r"#[0-9a-fA-F]{6}\b|\b(hsl|rgb)a?\([0-9]", line) and "--desk" not in line:
                yield name, i, "a colour is not from harness/base/looks.c"


def rows_of_folders():
    """The row of docs/architecture.md's table that each folder has."""
    table = TEXTS[ARCHITECTURE].split("\n## The layers\n")[1].split("\n## ")[0]
    rows = [re.findall(r"`([\w./-]+)/`", row.split("|")[1]) for row in table.split("\n")
            if row.startswith("| `")]
    return {folder: number for number, row in enumerate(rows) for folder in row}


def layers():
    """A folder includes only itself and folders of lower rows of docs/architecture.md's table."""
    row_of = rows_of_folders()
    tops = {folder.split("/")[0] for folder in row_of}
    for name, text in TEXTS.items():
        here = os.path.dirname(name)
        if not name.endswith((".c", ".h")) or name.split("/")[0] not in tops:
            continue
        if here not in row_of:
            yield ARCHITECTURE, 1, f"its table does not have {here}/"
            continue
        for found in re.finditer(r'^#include "([^"]+)"', text, re.M):
            to = os.path.normpath(os.path.join(here, found.group(1)))
            to = to if to in TEXTS else os.path.normpath(found.group(1))
            there = os.path.dirname(to)
            if there in row_of and here != there and row_of[here] >= row_of[there]:
                yield name, line_of(text, found.start()), f"{there}/ is not below {here}/"
            elif here.startswith("harness") and there.startswith("channels") and \
                    there not in ("channels/loco", "channels/loco/fabric"):
                yield name, line_of(text, found.start()), f"{to} is private to channels/"


def symbols():
    """A folder calls only itself and folders of lower rows: the same, of what was compiled."""
    row_of, defined, used = rows_of_folders(), {}, []
    build = os.environ.get("HILOCO_BUILD", "build") + "/obj/"
    sources = [name for name in TEXTS if name.endswith(".c") and os.path.dirname(name) in row_of
               and os.path.exists(build + name[:-1] + "o")]
    if not sources:
        sys.exit(NOTHING_TO_CHECK)
    listed = subprocess.run(["nm", "-A", "-g", *(build + name[:-1] + "o" for name in sources)],
                            check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        name, kind, symbol = re.match(r"(.*)\.o:\S* +(\w) (\S+)", line).groups()
        if kind == "U":
            used.append((name[len(build):], symbol))
        else:
            defined.setdefault(symbol, set()).add(name[len(build):])
    for name, symbol in used:
        for there in defined.get(symbol, ()):
            ours, theirs = os.path.dirname(name), os.path.dirname(there)
            if ours != theirs and row_of[ours] >= row_of[theirs]:
                yield f"{name}.c", 1, f"{symbol} of {there}.c is not below {ours}/"


RULES = {rule.__name__: rule for rule in
         (declarations, files, tests, documents, lines, lengths, words, benchmarks, colours,
          layers, symbols)}

if len(sys.argv) == 1:
    print(" ".join(RULES))
    sys.exit(0)
findings = list(RULES[sys.argv[1]]())
for file, line, what in findings:
    print(f"{file}:{line}: {what}")
sys.exit(1 if findings else 0)
