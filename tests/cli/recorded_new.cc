// Every standard form of operator new and delete: 20 births a round, 1000 rounds.
//   recorded_new nothing   none of it
//   recorded_new throws    the same after a new that throws
#include <cstdlib>
#include <cstring>
#include <new>

struct alignas(64) Wide {
    char bytes[64];
};

static void *hide(void *block)
{
    __asm__ volatile("" : "+r"(block)::"memory");
    return block;
}

static void round_of_calls()
{
    const std::align_val_t align{128};
    operator delete(hide(operator new(10)));
    operator delete[](hide(operator new[](20)));
    operator delete(hide(operator new(30)), std::size_t{30});
    operator delete[](hide(operator new[](40)), std::size_t{40});
    operator delete(hide(operator new(50, std::nothrow)), std::nothrow);
    operator delete[](hide(operator new[](60, std::nothrow)), std::nothrow);
    operator delete(hide(operator new(128, align)), align);
    operator delete[](hide(operator new[](256, align)), align);
    operator delete(hide(operator new(128, align)), std::size_t{128}, align);
    operator delete[](hide(operator new[](256, align)), std::size_t{256}, align);
    operator delete(hide(operator new(128, align, std::nothrow)), align, std::nothrow);
    operator delete[](hide(operator new[](256, align, std::nothrow)), align, std::nothrow);
    for (int i = 0; i < 4; i++) {
        delete static_cast<int *>(hide(new int(i)));
        delete[] static_cast<Wide *>(hide(new Wide[3]));
    }
}

// What cannot be had throws through the recorder's frame, which goes on recording.
static bool throws()
{
    try {
        hide(operator new(static_cast<std::size_t>(-1) / 4));
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc > 1 && std::strcmp(argv[1], "nothing") == 0)
        return 0;
    if (argc > 1 && std::strcmp(argv[1], "throws") == 0 && !throws())
        return 1;
    for (int i = 0; i < 1000; i++)
        round_of_calls();
    return 0;
}
