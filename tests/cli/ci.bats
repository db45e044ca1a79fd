#!/usr/bin/env bats
# The recipes of docs/ci.md, run as they stand there in a repository of two commits.

bats_require_minimum_version 1.5.0
load common

source_dir=$BATS_TEST_DIRNAME/../..
examples=$source_dir/docs/examples/ci

commit() { # MESSAGE
    git add -A
    git -c user.name=t -c user.email=t@localhost commit --quiet -m "$1"
}

# A library of an allocator with a makefile; PERCENT of padding is what a commit changes.
write_library() { # PERCENT
    mkdir -p bench
    cp "$source_dir/tests/cli/padded.c" mine.c
    cp "$examples/measure.sh" "$examples/gate.sh" "$examples/gate-short.sh" bench/
    printf 'build/libmine.so: mine.c Makefile\n\tmkdir -p build\n\tcc -shared -fPIC -O2 %s\n' \
        "-fno-builtin -DPAD_PERCENT=$1 -o \$@ mine.c" >Makefile
    printf 'build/\ngate/\nbase/\nresult-*/\nMakefile.local\n' >.gitignore
    sed 's/^name: gate/name: churn/' "$source_dir/tests/figures/gate.yaml" >bench/churn.yaml
}

# A repository whose branch "main" has the library as it is; on a branch "topic" afterwards.
start_repository() {
    command -v git >/dev/null || skip "no git"
    command -v cc >/dev/null || skip "no C compiler"
    command -v make >/dev/null || skip "no make"
    git init --quiet --initial-branch main team
    cd team || return 1
    write_library 0
    commit "Add the library"
    git checkout --quiet -b topic
}

# Runs every command that the advice of an output names, with the program under test as fragbench.
run_advice() { # TEXT
    local bin=$BATS_TEST_TMPDIR/bin lines line
    mkdir -p "$bin"
    ln -sf "$FRAGBENCH" "$bin/fragbench"
    mapfile -t lines < <(grep '^Next: ' <<<"$1" | grep -oE 'fragbench (run|plot) [^;]*')
    [[ ${#lines[@]} -gt 0 ]] || fail "no command in:" "$1"
    for line in "${lines[@]}"; do
        if [[ $line == *" plot "* ]] && ! command -v gnuplot >/dev/null; then continue; fi
        PATH=$bin:$PATH bash -c "$line" >advice.txt 2>&1 || fail "$line" "$(cat advice.txt)"
    done
}

@test "the same on both sides: exit 0, with all documents" {
    start_repository
    echo "A word." >README
    commit "Say a word"
    run --separate-stderr bench/gate.sh main
    assert_status 0
    assert_contains "$output" "4 unchanged"
    assert_contains "$output" "gate: passed"
    local document
    for document in junit.xml comment.md gl-code-quality-report.json annotations.txt summary.md; do
        [[ -e gate/$document ]] || fail "no gate/$document"
    done
    # Nothing of it is left in the repository's list of work trees, and it can be run again.
    assert_equal "$(git worktree list | wc -l)" 1
    run --separate-stderr bench/gate.sh main
    assert_status 0
}

@test "10 % more: exit 1, which pattern, which allocator, how much and where; and advice that runs" {
    start_repository
    write_library 10
    commit "Pad every block"
    summary=$BATS_TEST_TMPDIR/summary.md
    GITHUB_STEP_SUMMARY=$summary run --separate-stderr bench/gate.sh main
    assert_status 1
    assert_contains "$output" "regressed: churn, mine: ratio_peak "
    assert_contains "$output" "(threshold 5 %)"
    assert_contains "$output" "peak in phase serve at "
    assert_contains "$output" "gate: failed (4 regressed)"
    assert_contains "$output" "::error"
    assert_contains "$(cat "$summary")" "ratio_peak"
    assert_contains "$output" "--explain"
    assert_contains "$output" " --plot change --base "
    run_advice "$output"
}

@test "worse and meant so: a line in the commit's message lets it pass, with a note" {
    start_repository
    write_library 10
    commit "Pad every block

Memory: accepted, guards are worth it"
    run --separate-stderr bench/gate.sh main
    assert_status 0
    assert_contains "$output" 'worse, and meant so: "Memory: accepted, guards are worth it": passed'
}

@test "no baseline yet: exit 0 with a note" {
    start_repository
    git rm --quiet -r bench
    commit "Start without a gate"
    git branch --quiet --force main
    write_library 0
    commit "Add the gate"
    run --separate-stderr bench/gate.sh main
    assert_status 0
    assert_contains "$output" "has no bench/measure.sh, so there is no baseline yet"
    # A base that has measured other things only is none, either.
    git branch --quiet --force main
    sed -i 's/name: churn/name: other/' bench/churn.yaml
    commit "Measure something else"
    run --separate-stderr bench/gate.sh main
    assert_status 0
    assert_contains "$stderr" "nothing to compare"
    assert_contains "$output" "there is no baseline yet: passed"
}

@test "what does not build fails the gate and shows why" {
    start_repository
    echo "int" >>mine.c
    commit "Break it"
    run --separate-stderr bench/gate.sh main
    assert_status 3
    assert_contains "$stderr" "mine.c"
    assert_contains "$stderr" "bench/measure.sh ended with 2"
    run --separate-stderr bench/gate.sh nowhere
    assert_status 2
    assert_contains "$stderr" "no common history with nowhere"
}

@test "a tunable that changes is compared" {
    "$FRAGBENCH" list allocators | grep -q '^jemalloc *yes' || skip "no jemalloc"
    start_repository
    sed -i "s|-a mine=./build/libmine.so|-a jemalloc:dirty_decay_ms=0|" bench/measure.sh
    commit "Measure jemalloc"
    git branch --quiet --force main
    sed -i "s|dirty_decay_ms=0|dirty_decay_ms=10000|" bench/measure.sh
    commit "Let it keep pages"
    run --separate-stderr bench/gate.sh main
    assert_status 1
    assert_contains "$output" "jemalloc:dirty_decay_ms=0 → jemalloc:dirty_decay_ms=10000"
    assert_contains "$output" "regressed"
}

@test "a pattern that costs more fails like an allocator that does; or is refused" {
    start_repository
    sed -i 's/uniform: \[16KiB, 48KiB\]/uniform: [24KiB, 56KiB]/' bench/churn.yaml
    commit "Ask for larger blocks"
    run --separate-stderr bench/gate.sh main
    assert_status 1
    assert_contains "$output" "regressed: churn, mine: peak_footprint_bytes"
    GATE_BY=sha256,tunables run --separate-stderr bench/gate.sh main
    assert_status 2
    assert_contains "$stderr" "--by trace"
}

@test "the shortest form: equal 0, worse 1" {
    start_repository
    write_library 10
    commit "Pad every block"
    run --separate-stderr bench/gate-short.sh topic
    assert_status 0
    git worktree remove --force base
    rm -r result-base result-new
    run --separate-stderr bench/gate-short.sh main
    assert_status 1
    assert_contains "$output" "gate: failed (3 regressed)"
}

# A program that keeps some of its requests; BYTES more a request is what a commit changes.
write_program() { # BYTES
    mkdir -p bench
    cp "$examples/gate.sh" bench/
    cp "$examples/measure-recording.sh" bench/measure.sh
    cat >service.c <<C
#include <stdlib.h>
#include <string.h>
int main(void)
{
    static void *kept[4000];
    for (int i = 0; i < 20000; i++) {
        free(kept[i % 4000]);
        kept[i % 4000] = memset(malloc(2000 + $1), 1, 2000 + $1);
    }
    for (int i = 0; i < 4000; i++)
        free(kept[i]);
    return 0;
}
C
    printf 'build/service: service.c\n\tmkdir -p build\n\tcc -O1 -fno-builtin -o $@ service.c\n' \
        >Makefile
    printf 'build/\ngate/\n' >.gitignore
}

@test "a program of one's own, recorded on both sides" {
    start_repository
    git rm --quiet -r --force . && write_program 0
    commit "Write a service"
    git branch --quiet --force main
    echo "A word." >README
    commit "Say a word"
    run --separate-stderr bench/gate.sh main
    assert_status 0
    assert_contains "$output" "gate: passed"
    write_program 400
    commit "Make requests larger"
    run --separate-stderr bench/gate.sh main
    assert_status 1
    assert_contains "$output" "regressed: service, ptmalloc2: peak_footprint_bytes"
}

@test "GitHub's and GitLab's files are YAML and do what the tested scripts do" {
    python3 -c 'import yaml' 2>/dev/null || skip "no python3-yaml"
    run python3 - "$examples" <<'PY'
import sys, yaml
load = lambda name: yaml.safe_load(open(f"{sys.argv[1]}/{name}"))
steps = load("github.yml")["jobs"]["gate"]["steps"]
assert all(("run" in step) != ("uses" in step) for step in steps), steps
print("\n".join(step["run"] for step in steps if "run" in step))
job = load("gitlab-ci.yml")["memory"]
print("\n".join(job["before_script"] + job["script"]))
print(job["artifacts"]["reports"]["junit"], job["artifacts"]["reports"]["codequality"])
PY
    assert_status 0
    assert_contains "$output" 'bench/gate.sh "origin/$GITHUB_BASE_REF"'
    assert_contains "$output" "bench/gate.sh FETCH_HEAD"
    assert_contains "$output" "gate/junit.xml gate/gl-code-quality-report.json"
    # Every line is a script that is tested here or in the project's CI, or gets what these need.
    local line
    while IFS= read -r line; do
        [[ $line =~ ^(bench/gate.sh|fragbench/bootstrap|apt-get|git)\  || $line == gate/* ]] ||
            fail "not tried anywhere: $line"
    done <<<"$output"
}

# The gate's baseline with less memory in one cell's ratio_peak than is needed.
lower_baseline() { # PART CELL FACTOR
    cp -r "$source_dir/results/reference/gate/baseline" baseline
    python3 - "baseline/$1/result.json" "$2" "$3" <<'PY'
import json, sys
path, name, factor = sys.argv[1], sys.argv[2], float(sys.argv[3])
result = json.load(open(path))
cell = next(c for c in result["cells"] if c["id"] == name)
cell["repetitions"][0]["metrics"]["ratio_peak"] *= factor
json.dump(result, open(path, "w"))
PY
}

@test "the project's own gate: a page more fails under the system's allocators, 2 % under ours" {
    local status
    status=0
    "$source_dir/tests/gate/own.sh" >plain.txt 2>&1 || status=$?
    [[ $status -ne 77 ]] || skip "nothing to compare with on this machine"
    [[ $status -eq 0 ]] || fail "$(cat plain.txt)"
    grep -q "another kernel" plain.txt && skip "the baseline is of another kernel"
    lower_baseline system kv-cache-growth/ptmalloc2 0.9999
    BASELINE=$PWD/baseline run --separate-stderr "$source_dir/tests/gate/own.sh"
    assert_status 1
    assert_contains "$output" "regressed: kv-cache-growth, ptmalloc2: ratio_peak"
    assert_contains "$stderr" "tests/gate/update.sh makes a new baseline"
    rm -r baseline
    lower_baseline own kv-cache-growth/tensor-arena:huge=0 0.98
    BASELINE=$PWD/baseline run --separate-stderr "$source_dir/tests/gate/own.sh"
    assert_status 1
    assert_contains "$output" "regressed: kv-cache-growth, tensor-arena:huge=0: ratio_peak"
}
