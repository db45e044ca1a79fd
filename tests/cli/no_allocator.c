/* A shared object that defines no malloc: preloading it must be noticed. */
int fragbench_test_nothing(void);

int fragbench_test_nothing(void)
{
    return 0;
}
