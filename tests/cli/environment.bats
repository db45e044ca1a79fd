#!/usr/bin/env bats
# What the shell exports must not reach a cell.

bats_require_minimum_version 1.5.0
load common

@test "allocator variables of the shell change nothing" {
    "$FRAGBENCH" run --layouts 1 --no-timing -o clean tiny.yaml
    MALLOC_CONF=junk:true,dirty_decay_ms:-1 GLIBC_TUNABLES=glibc.malloc.top_pad=67108864 \
        MALLOC_TOP_PAD_=67108864 MALLOC_ARENA_MAX=1 MIMALLOC_RESERVE_HUGE_OS_PAGES=1 \
        MIMALLOC_ARENA_EAGER_COMMIT=1 MIMALLOC_SHOW_STATS=1 TCMALLOC_AGGRESSIVE_DECOMMIT=1 \
        TCMALLOC_HEAP_LIMIT_MB=1 SCUDO_OPTIONS=zero_contents=1 \
        "$FRAGBENCH" run --layouts 1 --no-timing -o dirty tiny.yaml
    assert_equal "$(exact_metrics dirty/result.json)" "$(exact_metrics clean/result.json)"
}

@test "LD_PRELOAD of the shell changes nothing" {
    local library
    library=$("$FRAGBENCH" list allocators mimalloc | awk '$1 == "library" { print $2 }')
    [[ $library == /* ]] || skip "mimalloc is not installed"
    "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -o clean tiny.yaml
    LD_PRELOAD=$library "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -o dirty tiny.yaml
    assert_equal "$(exact_metrics dirty/result.json)" "$(exact_metrics clean/result.json)"
}

@test "locale and time zone change nothing" {
    "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -o clean tiny.yaml
    LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -o other \
        tiny.yaml
    assert_equal "$(exact_metrics other/result.json)" "$(exact_metrics clean/result.json)"
}

@test "a large environment of the shell changes nothing" {
    "$FRAGBENCH" run --layouts 1 --no-timing -o clean tiny.yaml
    PADDING=$(head -c 100000 /dev/zero | tr '\0' x) \
        "$FRAGBENCH" run --layouts 1 --no-timing -o padded tiny.yaml
    assert_equal "$(exact_metrics padded/result.json)" "$(exact_metrics clean/result.json)"
}
