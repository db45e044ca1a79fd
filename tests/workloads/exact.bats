#!/usr/bin/env bats
# The figures of exact.tsv, by allocator:
#   - this machine is the one of its head (architecture, kernel, libc, page size, CPUs) and the
#     allocator has the version and checksum there: equal to the last digit;
#   - the same allocator on another machine: within 5 %, and 256 KiB for bytes;
#   - another version: not compared, since it is another program. directions.bats holds for it.
# To add a workload: a line below, then update-exact.sh.
# shellcheck disable=SC2154 # bats and the loaded files set them

bats_require_minimum_version 1.5.0
load common
load exact

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# The rows of the table that the result does not keep to, one a line; result.json on stdin.
differences() { # NAME
    jq -r --rawfile table "$BATS_TEST_DIRNAME/exact.tsv" --arg name "$1" '
        def close($to): (. - $to | fabs) as $off
            | $off <= 0.05 * ($to | fabs) + (if $to | fabs > 1024 then 262144 else 0 end);
        ($table | split("\n") | map(split("\t"))) as $lines
        | ($lines | any(.[0] == "# host" and .[1] == $host)) as $here
        | .cells[] | .allocator.name as $allocator | .summary as $summary
        | ('"$build_line"') as $build
        | select($lines | any(. == ["# allocator", $allocator, $build]))
        | $lines[] | select(.[0] == $name and .[2] == $allocator)
        | .[3] as $metric | (.[4] | tonumber) as $expected | $summary[$metric].median as $got
        | select(if $got == null then true
            elif $here then $got != $expected else $got | close($expected) | not end)
        | "\($allocator) \($metric): \($got), expected \(if $here then "" else "about " end)\($expected)"
    ' --arg host "$(jq -r "$host_line" result.json)" result.json
}

matches_table() { # NAME
    local known found
    measure_small "$1" -a "$contenders" >result.json
    skip_unless_done result.json
    grep -qP "^$1\t$(small_scale "$1")\t" "$BATS_TEST_DIRNAME/exact.tsv" ||
        fail "exact.tsv has no rows of $1 at $(small_scale "$1"): run update-exact.sh"
    known=$(jq -r '.cells[] | "# allocator\t\(.allocator.name)\t\('"$build_line"')"' result.json |
        grep -cxFf - "$BATS_TEST_DIRNAME/exact.tsv") || skip "other versions of all allocators"
    found=$(differences "$1")
    [[ -z $found ]] || fail "$found" "($known allocators compared)"
}

@test "burst-then-idle" { matches_table burst-then-idle; }
@test "eviction-refill" { matches_table eviction-refill; }
@test "heap-top-pin" { matches_table heap-top-pin; }
@test "inference-mixed" { matches_table inference-mixed; }
@test "inference-service" { matches_table inference-service; }
@test "kv-cache-growth" { matches_table kv-cache-growth; }
@test "kv-cache-paged" { matches_table kv-cache-paged; }
@test "metadata-bursts" { matches_table metadata-bursts; }
@test "model-swap" { matches_table model-swap; }
@test "pooled" { matches_table pooled; }
@test "size-shift" { matches_table size-shift; }
@test "sparse-survivors" { matches_table sparse-survivors; }
