/* The draw/collect algorithm of allocators/budgeted/credit.h as a model that spin checks exhaustively.
 *
 * Two threads allocate and free; each may find the budget short and collect the other's credit. Plain
 * stores of a pocket's owner go through a store buffer, as on x86: another thread sees them late, in
 * order, and the owner's locked instructions and the collector's membarrier wait until it is empty.
 *
 * Checked in every reachable state: the charged bytes never exceed the budget, and nothing deadlocks;
 * at the end: every byte is back, so none was lost or made. With -DNO_MEMBARRIER the collector does not
 * wait for the owners' buffers, with -DNO_WAIT not for a busy owner: spin must find the double spending
 * that each of them allows, or the model would prove nothing.
 */
#define THREADS 2
#define BUDGET 4
#define BATCH 1
#define KEEP 2
#define PLENTY 3
#ifndef STEPS
#define STEPS 2
#endif

#define BUSY 0
#define CREDIT 1

short available = BUDGET;
short charged = 0; /* of blocks handed out; no such word exists in the program */
byte busy[THREADS];
byte asked[THREADS];
short credit[THREADS];
bool tight = false;
bool mutex = false;
byte finished = 0;

chan buffer[THREADS] = [3] of { byte, short };
byte credits_buffered[THREADS];
short credit_written[THREADS];

#define store_busy(value) buffer[me] ! BUSY, value
inline store_credit(value)
{
    atomic {
        nfull(buffer[me]);
        credit_written[me] = value;
        credits_buffered[me]++;
        buffer[me] ! CREDIT, credit_written[me]
    }
}
/* An owner reads what it wrote last, wherever that is. */
#define own_credit (credits_buffered[me] > 0 -> credit_written[me] : credit[me])
/* A locked instruction. */
#define drain empty(buffer[me])

#define lock atomic { drain && !mutex -> mutex = true }
#define unlock mutex = false

/* The memory system of one thread: writes arrive when they like, in order. */
active [THREADS] proctype memory()
{
    byte me = _pid % THREADS;
    byte what;
    short value;
end:
    do
    :: atomic {
        buffer[me] ? what, value ->
        if
        :: what == BUSY -> busy[me] = value
        :: what == CREDIT -> credit[me] = value; credits_buffered[me]--
        fi;
        what = 0; value = 0
       }
    od
}

inline draw_exactly(bytes, ok)
{
    atomic {
        drain ->
        if
        :: available >= (bytes) -> available = available - (bytes); ok = true
        :: else -> ok = false
        fi
    }
}

inline add_available(bytes)
{
    atomic { drain -> available = available + (bytes) }
}

inline shut_pockets()
{
    if
    :: !tight ->
        tight = true;
        each = 0;
        do
        :: each < THREADS -> asked[each] = 1; each++
        :: else -> break
        od;
        each = 0;
        do
        :: each < THREADS ->
#ifndef NO_MEMBARRIER
            empty(buffer[each]);
#endif
            each++
        :: else -> break
        od;
        each = 0;
        do
        :: each < THREADS ->
#ifndef NO_WAIT
            busy[each] == 0;
#endif
            atomic { available = available + credit[each]; credit[each] = 0 };
            each++
        :: else -> break
        od;
        each = 0
    :: else
    fi
}

inline fill_pocket()
{
    store_busy(1);
    if
    :: asked[me] == 0 -> seen = own_credit; store_credit(seen + BATCH); seen = 0; store_busy(0)
    :: else -> store_busy(0); add_available(BATCH)
    fi
}

inline draw(bytes, ok)
{
    ok = false;
    if
    :: !tight ->
        draw_exactly(bytes + BATCH, ok);
        if
        :: ok -> fill_pocket()
        :: else
        fi
    :: else
    fi;
    if
    :: !ok -> draw_exactly(bytes, ok)
    :: else
    fi;
    if
    :: !ok ->
        lock;
        shut_pockets();
        unlock;
        draw_exactly(bytes, ok)
    :: else
    fi
}

inline take(bytes, ok)
{
    store_busy(1);
    /* asked is read while busy = 1 may still be in the buffer: that is the whole difficulty */
    open = (asked[me] == 0);
    seen = own_credit;
    if
    :: open && seen >= bytes -> store_credit(seen - bytes); ok = true
    :: else -> ok = false
    fi;
    seen = 0;
    store_busy(0);
    if
    :: !ok -> draw(bytes, ok)
    :: else
    fi
}

inline give(bytes)
{
    store_busy(1);
    open = (asked[me] == 0);
    seen = own_credit;
    if
    :: open && seen + bytes <= KEEP -> store_credit(seen + bytes); seen = 0; store_busy(0)
    :: else ->
        surplus = 0;
        if
        :: open && seen > BATCH -> surplus = seen - BATCH; store_credit(BATCH)
        :: else
        fi;
        seen = 0;
        store_busy(0);
        add_available(bytes + surplus);
        surplus = 0;
        if
        :: tight && available >= PLENTY ->
            lock;
            if
            :: tight && available >= PLENTY ->
                tight = false;
                asked[0] = 0;
                asked[1] = 0
            :: else
            fi;
            unlock
        :: else
        fi
    fi
}

active [THREADS] proctype user()
{
    byte me = _pid % THREADS;
    byte each = 0, steps = 0;
    short held = 0, want = 0, extra = 0, seen = 0, surplus = 0;
    bool ok = false, open = false;

    do
    :: steps < STEPS && held == 0 ->
        steps++;
        select(want : 1 .. 2);
        take(want, ok);            /* reserve */
        if
        :: ok ->
            select(extra : 0 .. 1); /* the inner allocator's rounding, known only now */
            if
            :: extra > 0 -> take(extra, ok)
            :: else
            fi;
            if
            :: ok -> 
                held = want + extra;
                d_step {
                    charged = charged + held;
                    assert(charged <= BUDGET)
                }
            :: else -> give(want)   /* the block goes back unseen */
            fi
        :: else
        fi;
        want = 0; extra = 0; ok = false
    :: held > 0 ->
        d_step { charged = charged - held };
        give(held);
        held = 0
    :: steps == STEPS && held == 0 -> break
    od;
    drain;
    finished++
}

active proctype checker()
{
    finished == THREADS && !mutex;
    assert(charged == 0);
    assert(available + credit[0] + credit[1] == BUDGET)
}
