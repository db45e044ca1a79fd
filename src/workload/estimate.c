#include "workload/estimate.h"

#include "base/detmath.h"
#include "workload/generator.h"

#include <math.h>

/* A count's mean; where it is infinite (pareto of shape ≤ 1) its median, since an
 * estimate must not refuse what may well fit. */
static double expected(const struct fb_distribution *distribution)
{
    if (distribution->kind == FB_DISTRIBUTION_PARETO && distribution->b <= 1.0)
        return distribution->a * fb_det_pow(2.0, 1.0 / distribution->b);
    double mean = fb_distribution_mean(distribution);
    return mean > 0.0 ? mean : 0.0;
}

/* Steps from the mean size to grow_to. */
static double steps_to_full(const struct fb_object_class *class)
{
    double size = expected(&class->size), full = (double)class->grow_to_bytes;
    if (size < 1.0)
        size = 1.0;
    if (size >= full)
        return 0.0;
    return class->grow_by_bytes > 0 ? (full - size) / (double)class->grow_by_bytes
                                    : fb_det_log(full / size) / fb_det_log(class->grow_factor);
}

/* Steps that an object of the class lives to make. Where its life cannot be told in
 * iterations (time, ops): none, the exact count will see them. */
static double steps_lived(const struct fb_object_class *class, double iterations)
{
    switch (class->lifetime) {
    case FB_LIFETIME_RUN:
    case FB_LIFETIME_PHASE:
    case FB_LIFETIME_MANUAL:
        return iterations / 2.0; /* born evenly over the phase */
    case FB_LIFETIME_ITERATIONS: {
        double life = expected(&class->life) - 1.0;
        return life < iterations / 2.0 ? life : iterations / 2.0;
    }
    case FB_LIFETIME_ITERATION:
    case FB_LIFETIME_TIME:
    case FB_LIFETIME_OPS:
    case FB_LIFETIME_SCOPE:
    case FB_LIFETIME_INNER_SCOPE:
        break;
    }
    return 0.0;
}

static double growth_steps(const struct fb_object_class *class, double iterations)
{
    if (class->grow == FB_GROW_NONE)
        return 0.0;
    double full = steps_to_full(class), lived = steps_lived(class, iterations);
    double steps = full < lived ? full : lived;
    return steps > 0.0 ? steps : 0.0;
}

static uint32_t lanes_of(const struct fb_phase *phase)
{
    uint32_t lanes = phase->pool != NULL ? phase->pool->threads : phase->threads;
    return lanes > 0 ? lanes : 1;
}

/* Adds what one phase makes; *kept is what earlier phases and this one leave alive for the run. */
static void add_phase(struct fb_estimate *estimate, const struct fb_workload *workload,
                      const struct fb_phase *phase, double iterations, double *kept)
{
    double held = 0.0, own_iterations = iterations / lanes_of(phase);
    for (size_t i = 0; i < phase->allocate_count; i++) {
        const struct fb_object_class *class = &workload->classes[phase->allocate[i].class_index];
        double objects = expected(&phase->allocate[i].count) * iterations;
        double steps = phase->has_iterations ? objects * growth_steps(class, own_iterations) : 0.0;
        estimate->objects += objects + steps;
        estimate->ops += 2.0 * objects + (class->grow == FB_GROW_COPY ? 2.0 : 1.0) * steps;
        if (class->lifetime == FB_LIFETIME_RUN)
            *kept += objects;
        if (class->lifetime == FB_LIFETIME_PHASE || class->lifetime == FB_LIFETIME_MANUAL)
            held += objects;
    }
    if (*kept + held > estimate->held)
        estimate->held = *kept + held;
    if (phase->has_iterations)
        estimate->ops += iterations * (phase->every_ns > 0 ? 2.0 : 1.0);
    if (phase->hold_ns > 0)
        estimate->ops += iterations;
}

static double pool_threads(const struct fb_workload *workload)
{
    double threads = 0.0;
    for (size_t i = 0; i < workload->pool_count; i++) {
        const struct fb_pool *pool = &workload->pools[i];
        bool used = false;
        for (size_t k = 0; k < workload->phase_count && !used; k++)
            used = workload->phases[k].pool == pool ||
                   fb_crew_frees(workload, &workload->phases[k], pool);
        threads += used ? pool->threads : 0.0;
    }
    return threads;
}

/* Own threads: a set for each thread_life, of which the last may be small. */
static double own_threads(const struct fb_phase *phase, uint64_t iterations)
{
    double threads = phase->threads;
    if (threads == 0.0 || phase->thread_life == 0 || !phase->has_iterations)
        return threads;
    double life = (double)phase->thread_life * threads;
    double full_sets = floor((double)(iterations - 1) / life);
    double left = (double)iterations - full_sets * life;
    return full_sets * threads + (left < threads ? left : threads);
}

/* Starts, ends, scopes, and the one turn at least that an iteration takes. */
static double thread_ops(const struct fb_phase *phase, double iterations, double threads)
{
    double each = lanes_of(phase) > 1 ? 1.0 : 0.0;
    if (phase->scope)
        each += 2.0 + 2.0 * phase->inner_scopes;
    return 3.0 * threads + each * iterations;
}

struct fb_estimate fb_estimate_of(const struct fb_workload *workload, const uint64_t *iterations)
{
    struct fb_estimate estimate = {.streams = 1.0 + pool_threads(workload)};
    double kept = 0.0;
    for (size_t i = 0; i < workload->phase_count; i++) {
        const struct fb_phase *phase = &workload->phases[i];
        double times = phase->has_iterations ? (double)iterations[i] : 1.0;
        double threads = own_threads(phase, iterations[i]);
        add_phase(&estimate, workload, phase, times, &kept);
        estimate.ops += thread_ops(phase, times, threads);
        estimate.streams += threads;
    }
    return estimate;
}
