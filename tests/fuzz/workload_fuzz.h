#ifndef FB_TESTS_WORKLOAD_FUZZ_H
#define FB_TESTS_WORKLOAD_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer gives the name. Returns 0; aborts when a promise is broken. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
