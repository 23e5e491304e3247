#!/usr/bin/env python3
"""clang-tidy on the sources that stdin names, by the compile commands of a folder.

    lint_sources.py FOLDER JOBS

Most of clang-tidy's time for a file goes into the headers that it reads, so sources with the same flags are read several at
a time, one after the other, as one file. Names that two of them have in common make that fail; each is then read by itself.

The compiler reads the standard headers precompiled (cmake/pch) and does not see that a file misses one of them, nor does
clang-tidy here: of names that are in these headers alone the file must include the header, itself or by others.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

MOST_AT_A_TIME = 12

# By header: what no other one of those in cmake/pch declares.
NAMES = {
    "algorithm": r"std::(ranges::(sort|stable_sort|find|find_if|find_if_not|any_of|all_of|none_of|count|count_if|"
                 r"max_element|min_element|copy|copy_if|transform|reverse|fill|for_each|equal|is_sorted|unique|"
                 r"set_difference|lower_bound|upper_bound|binary_search|partition|stable_partition|contains|"
                 r"includes|mismatch|nth_element|rotate|shuffle|remove|remove_if|replace|search|adjacent_find)|"
                 r"sort|stable_sort|partial_sort|nth_element|shuffle|clamp|minmax_element|set_union|includes)\b",
    "array": r"std::array<",
    "cmath": r"std::(sqrt|exp|log|log2|pow|floor|ceil|round|lround|sin|cos|tanh|isnan|isinf|isfinite|nextafter|fmod)\(",
    "filesystem": r"std::filesystem::",
    "fmt/format.h": r"fmt::(format|format_to|print)\(",
    "fstream": r"std::(ifstream|ofstream|fstream)\b",
    "functional": r"std::(function<|equal_to<|bind_front\()",
    "gmock/gmock.h": r"\b(EXPECT|ASSERT)_THAT\(",
    "gtest/gtest.h": r"\b(TEST|TEST_F|TEST_P)\(",
    "map": r"std::(multi)?map<",
    "memory": r"std::(unique_ptr<|shared_ptr<|make_unique<|make_shared<|weak_ptr<)",
    "optional": r"std::(optional<|nullopt\b)",
    "random": r"std::(mt19937|mt19937_64|uniform_(int|real)_distribution|normal_distribution)\b",
    "set": r"std::(multi)?set<",
    "span": r"std::span<",
    "sstream": r"std::(istringstream|ostringstream|stringstream)\b",
    "string": r"std::(string|to_string)\b",
    "string_view": r"std::string_view\b",
    "unordered_map": r"std::unordered_(multi)?map<",
    "unordered_set": r"std::unordered_(multi)?set<",
    "variant": r"std::(variant<|visit\(|holds_alternative<|get_if<|monostate\b)",
    "vector": r"std::vector<",
}


def flags_of(entry):
    """Its compile command without what names the source, the object and the program, and how far to optimise."""
    return re.sub(r" -o \S+ -c \S+$| -D\w+_EXPORTS\b| -O[12]\b", "", entry["command"])


def mistakes_of_includes(entry):
    with open(entry["file"], encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read())
    included = re.findall(r'^#include ["<](.*)[">]', text, re.MULTILINE)
    twice = sorted(header for header in set(included) if included.count(header) > 1 and not header.endswith(".def"))
    used = [header for header, names in NAMES.items() if re.search(names, text)]
    command = shlex.split(flags_of(entry)) + ["-M", entry["file"]]
    if "ccache" in command[0]:
        command = command[1:]
    read = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=True).stdout.split()
    missing = [header for header in used if not any(path.endswith("/" + header) for path in read)]
    return ([f"{entry['file']}:1:1: error: it includes {header} twice" for header in twice] +
            [f"{entry['file']}:1:1: error: it does not include <{header}>" for header in missing])


def tidy(folder, path, *options):
    done = subprocess.run(["clang-tidy-14", "--quiet", "--extra-arg=-Wno-unknown-warning-option", *options, "-p", folder,
                           path], capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "warnings generated" not in line]
    return done.returncode, done.stdout + "".join(line + "\n" for line in errors)


def begins_of(sources):
    """The lines before each source where they stand one after the other, and the text."""
    begins, lines = [], []
    for source in sources:
        begins.append(len(lines))
        with open(source, encoding="utf-8") as file:
            lines += file.read().splitlines()
    return begins, "".join(line + "\n" for line in lines)


def tidy_together(folder, path, sources):
    if len(sources) == 1:
        return tidy(folder, sources[0])
    # Headers that two of them include are not included twice.
    failed, output = tidy(folder, path, "--checks=-readability-duplicate-include")
    if failed and "[clang-diagnostic-error" in output:
        results = [tidy(folder, source) for source in sources]
        return max(code for code, _ in results), "".join(text for _, text in results)
    begins, _ = begins_of(sources)

    def of_source(match):
        line = int(match.group(1))
        at = max(k for k, begin in enumerate(begins) if begin < line)
        return f"{sources[at]}:{line - begins[at]}"

    return failed, re.sub(re.escape(path) + r":(\d+)", of_source, output)


def batches_of(entries, folder):
    """The sources that are read together, by the path of the file that has them all; writes these files."""
    by_flags = {}
    for entry in entries:
        by_flags.setdefault(flags_of(entry), []).append(entry)
    batches, commands = {}, list(entries)
    for flags, of_flags in by_flags.items():
        for first in range(0, len(of_flags), MOST_AT_A_TIME):
            batch = [entry["file"] for entry in of_flags[first:first + MOST_AT_A_TIME]]
            path = os.path.join(folder, f"together_{len(batches)}.cpp")
            batches[path] = batch
            with open(path, "w", encoding="utf-8") as file:
                file.write(begins_of(batch)[1])
            commands.append({"directory": of_flags[0]["directory"], "command": f"{flags} -c {path}", "file": path})
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(commands, file)
    return batches


def main():
    folder, jobs = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    wanted = {os.path.abspath(line.strip()) for line in sys.stdin}
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
        entries = sorted((entry for entry in json.load(file) if entry["file"] in wanted), key=lambda e: e["file"])
    together = os.path.join(folder, "together")
    os.makedirs(together, exist_ok=True)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for problems in pool.map(mistakes_of_includes, entries):
            failed |= bool(problems)
            print("".join(problem + "\n" for problem in problems), end="", flush=True)
        batches = batches_of(entries, together)
        longest = sorted(batches.items(), key=lambda item: -len(item[1]))
        for code, output in pool.map(lambda item: tidy_together(together, *item), longest):
            failed |= code != 0
            print(output, end="", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
