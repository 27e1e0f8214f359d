"""without.py <source tree> <compile_commands.json>
The runtime without the calls that record traces (-DDAG_NO_TRACE) compiles without a warning: the sources that look
whether anything is recorded, or include a header that does, each as this build compiles it, but checked alone."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

LOOKS = re.compile(r"DAGI_TRACK\(|DAGI_TRACE\(|\bdoor\.h\"")


def check(entry):
    words = shlex.split(entry["command"])
    while "ccache" in pathlib.Path(words[0]).name:
        words = words[1:]
    at = words.index("-o")
    words = words[:at] + words[at + 2:] + ["-DDAG_NO_TRACE", "-Werror", "-O0", "-fsyntax-only"]
    run = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
    if run.returncode:
        print(f"{entry['file']}:\n{run.stderr}")
    return run.returncode == 0


def main():
    runtime = pathlib.Path(sys.argv[1]).resolve() / "runtime"
    entries = {e["file"]: e for e in json.loads(pathlib.Path(sys.argv[2]).read_text())
               if runtime in pathlib.Path(e["file"]).parents and LOOKS.search(pathlib.Path(e["file"]).read_text())}
    good = [check(e) for e in entries.values()]
    print(f"{sum(good)} of {len(good)} sources compile")
    sys.exit(not good or not all(good))


main()
