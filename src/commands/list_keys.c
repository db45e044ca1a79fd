/* `list keys`: the language's key table, for a terminal, for one key, and as GitHub tables. */
#include "base/alloc.h"
#include "base/suggest.h"
#include "commands/columns.h"
#include "commands/list.h"
#include "report/grid.h"
#include "workload/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_CAP (1U << 20)

static void print_key(const struct fb_key *key)
{
    (void)printf("%s.%s\n  values   %s\n", key->where, key->name, key->values);
    if (*key->fallback != '\0')
        (void)printf("  default  %s\n", key->fallback);
    (void)printf("  example  %s\n  %s\n", key->example, key->help);
}

/* "iterations", or "phase.iterations" where a name stands in several places. */
static bool key_is(const struct fb_key *key, const char *word)
{
    size_t where = strlen(key->where);
    if (strcmp(key->name, word) == 0)
        return true;
    return strncmp(word, key->where, where) == 0 && word[where] == '.' &&
           strcmp(word + where + 1, key->name) == 0;
}

static int list_key(const struct fb_key *keys, size_t count, const char *name, struct fb_error *err)
{
    const char **names = fb_alloc(count, sizeof *names);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        names[i] = keys[i].name;
        if (key_is(&keys[i], name)) {
            (void)fputs(found++ > 0 ? "\n" : "", stdout);
            print_key(&keys[i]);
        }
    }
    const char *near = fb_suggest(name, names, count);
    free(names);
    if (found > 0)
        return 0;
    return fb_fail(err, FB_ERROR_INPUT, "no key \"%s\"; %s%s%s", name,
                   near != NULL ? "did you mean \"" : "see `fragbench list keys`",
                   near != NULL ? near : "", near != NULL ? "\"?" : "");
}

int fb_list_keys(const char *name, struct fb_error *err)
{
    size_t count = 0;
    const struct fb_key *keys = fb_keys(&count);
    if (name != NULL)
        return list_key(keys, count, name, err);
    struct fb_columns columns;
    fb_columns_init(&columns, "llll");
    fb_columns_add(&columns, (const char *const[]){"where", "key", "values", "default"});
    for (size_t i = 0; i < count; i++)
        fb_columns_add(&columns, (const char *const[]){keys[i].where, keys[i].name, keys[i].values,
                                                       keys[i].fallback});
    fb_columns_print(&columns, "", stdout);
    fb_columns_deinit(&columns);
    return 0;
}

/* An example is code: only a pipe would end its cell. The key table has none in any (tested). */
static void add_key(struct fb_buf *out, const struct fb_key *key)
{
    fb_buf_addf(out, "| `%s` | ", key->name);
    fb_markdown_add(out, key->values);
    fb_buf_adds(out, " | ");
    fb_markdown_add(out, key->fallback);
    fb_buf_adds(out, " | ");
    fb_markdown_add(out, key->help);
    fb_buf_addf(out, " | `%s` |\n", key->example);
}

void fb_list_keys_markdown(void)
{
    struct fb_buf out;
    size_t count = 0;
    const struct fb_key *keys = fb_keys(&count);
    fb_buf_init(&out, TABLE_CAP);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(keys[i].where, keys[i - 1].where) != 0)
            fb_buf_addf(&out,
                        "%s### %s\n\n| key | takes | default | meaning | example |\n"
                        "| :-- | :-- | :-- | :-- | :-- |\n",
                        i == 0 ? "" : "\n", keys[i].where);
        add_key(&out, &keys[i]);
    }
    (void)fputs(out.text, stdout);
    fb_buf_deinit(&out);
}
