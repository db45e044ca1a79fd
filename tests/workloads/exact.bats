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

@test "aligned-tensors" { matches_table aligned-tensors; }
@test "arena-chunk" { matches_table arena-chunk; }
@test "arena-reuse" { matches_table arena-reuse; }
@test "buffer-cycling" { matches_table buffer-cycling; }
@test "burst-then-idle" { matches_table burst-then-idle; }
@test "contiguous-64m" { matches_table contiguous-64m; }
@test "continuous-batching" { matches_table continuous-batching; }
@test "control-cache" { matches_table control-cache; }
@test "control-leak" { matches_table control-leak; }
@test "embedding-batch" { matches_table embedding-batch; }
@test "eviction-refill" { matches_table eviction-refill; }
@test "first-fit-worst" { matches_table first-fit-worst; }
@test "forward-pass" { matches_table forward-pass; }
@test "four-to-sixteen" { matches_table four-to-sixteen; }
@test "frame-pipeline" { matches_table frame-pipeline; }
@test "heap-top-pin" { matches_table heap-top-pin; }
@test "idle-threads" { matches_table idle-threads; }
@test "inference-mixed" { matches_table inference-mixed; }
@test "inference-service" { matches_table inference-service; }
@test "kv-cache-growth" { matches_table kv-cache-growth; }
@test "kv-cache-paged" { matches_table kv-cache-paged; }
@test "long-stream" { matches_table long-stream; }
@test "mass-free" { matches_table mass-free; }
@test "metadata-bursts" { matches_table metadata-bursts; }
@test "mid-chunks" { matches_table mid-chunks; }
@test "model-swap" { matches_table model-swap; }
@test "ort-dynamic" { matches_table ort-dynamic; }
@test "over-budget" { matches_table over-budget; }
@test "pool-per-request" { matches_table pool-per-request; }
@test "pooled" { matches_table pooled; }
@test "request-bodies" { matches_table request-bodies; }
@test "request-scope" { matches_table request-scope; }
@test "size-shift" { matches_table size-shift; }
@test "sparse-survivors" { matches_table sparse-survivors; }
@test "thread-burst" { matches_table thread-burst; }
@test "thread-churn" { matches_table thread-churn; }
@test "torch-decoder-kv" { matches_table torch-decoder-kv; }
@test "torch-encoder" { matches_table torch-encoder; }
@test "variable-shapes" { matches_table variable-shapes; }
