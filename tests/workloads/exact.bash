# What exact.tsv holds and when it applies: shared by exact.bats and update-exact.sh.
# shellcheck shell=bash disable=SC2034 # used by who loads it

exact_metrics='["peak_footprint_bytes", "kept_bytes", "end_footprint_bytes",
    "retained_idle_10s_bytes", "retained_purged_bytes", "ratio_at_peak_live", "ratio_mean"]'

# What the figures hang on besides the allocator. jemalloc sizes its tables by the CPUs, and the
# few pages that libc and the loader touch are part of every footprint.
host_line='.host | [.machine, (.kernel | capture("^(?<k>[^.]*[.][0-9]+)").k), .libc,
    "page \(.page_bytes)", "CPUs \(.ncpu)/\(.ncpu_allowed)"] | join(", ")'

# One line an allocator. ptmalloc2 is libc itself: its version tells it, it has no file of its own.
build_line='.allocator | [.version, .sha256] | map(select(. != "" and . != null)) | join(" ")'
