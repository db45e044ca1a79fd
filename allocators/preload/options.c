/* Options from the environment, read without allocating. */
#include "preload/contract.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define LINE_BYTES 256

struct unit {
    const char *name;
    size_t bytes;
};

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define TIB ((size_t)1 << 40)

/* The benchmark's units, and the one-letter ones that service files use: powers of 1024. */
static const struct unit units[] = {
    {"", 1},      {"B", 1},        {"k", KIB},         {"K", KIB},
    {"KiB", KIB}, {"M", MIB},      {"MiB", MIB},       {"G", GIB},
    {"GiB", GIB}, {"T", TIB},      {"TiB", TIB},       {"kB", 1000},
    {"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000}, {"TB", 1000000000000},
};

/* glibc has environ set before the first malloc of a process (seen with 2.36). */
const char *fba_option(const char *variable)
{
    size_t length = strlen(variable);
    if (environ == NULL || getauxval(AT_SECURE) != 0)
        return NULL;
    for (char **entry = environ; *entry != NULL; entry++) {
        if (strncmp(*entry, variable, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    }
    return NULL;
}

/* "VARIABLE=VALUE: EXPECTED; not used" */
static bool complain(const char *variable, const char *value, const char *expected)
{
    const char *parts[] = {variable, "=", value, ": ", expected, "; not used"};
    char line[LINE_BYTES];
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strnlen(parts[i], sizeof line - 1 - used);
        memcpy(line + used, parts[i], length);
        used += length;
    }
    line[used] = '\0';
    fba_say(line);
    return false;
}

/* Digits at the start of text; NULL when there are none or too many. */
static const char *read_digits(const char *text, size_t *out)
{
    size_t value = 0;
    if (*text < '0' || *text > '9')
        return NULL;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (size_t)(*text - '0'), &value))
            return NULL;
    }
    *out = value;
    return text;
}

bool fba_option_bytes(const char *variable, size_t *out)
{
    const char *value = fba_option(variable);
    if (value == NULL)
        return false;
    size_t number, bytes;
    const char *rest = read_digits(value, &number);
    while (rest != NULL && *rest == ' ')
        rest++;
    for (size_t i = 0; rest != NULL && i < sizeof units / sizeof *units; i++) {
        if (strcmp(rest, units[i].name) != 0)
            continue;
        if (__builtin_mul_overflow(number, units[i].bytes, &bytes))
            break;
        *out = bytes;
        return true;
    }
    return complain(variable, value, "expected a whole number of bytes, as in 64KiB or 512MiB");
}

bool fba_option_count(const char *variable, size_t *out)
{
    const char *value = fba_option(variable);
    if (value == NULL)
        return false;
    size_t number;
    const char *rest = read_digits(value, &number);
    if (rest == NULL || *rest != '\0')
        return complain(variable, value, "expected a whole number");
    *out = number;
    return true;
}

bool fba_option_bool(const char *variable, bool *out)
{
    const char *value = fba_option(variable);
    if (value == NULL)
        return false;
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"1", true}, {"0", false}, {"true", true}, {"false", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(value, words[i].text) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return complain(variable, value, "expected 0 or 1");
}
