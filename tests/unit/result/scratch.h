/* A temporary folder for one test. */
#ifndef FB_TESTS_UNIT_RESULT_SCRATCH_H
#define FB_TESTS_UNIT_RESULT_SCRATCH_H

/* cmocka set-up and tear-down; *state is the folder's path. */
int scratch_setup(void **state);
int scratch_teardown(void **state);

/* A file's text, NULL when there is none. New string. */
char *scratch_read(const char *dir, const char *name);
void scratch_write(const char *dir, const char *name, const char *text);
int scratch_exists(const char *dir, const char *name);
/* Number of entries but "." and "..". */
int scratch_entries(const char *dir);

#endif
