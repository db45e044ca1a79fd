// Random numbers that are the same on every machine: a counter, hashed (the idea of SplitMix: Steele, Lea, Flood,
// Fast splittable pseudorandom number generators, 2014), so neighbouring seeds have nothing in common.

/** A generator; seed is any integer. */
export function random(seed) {
    let counter = Math.imul(seed, 0x85ebca6b);
    const next = () => {
        counter = (counter + 0x9e3779b9) | 0;
        let bits = counter ^ (counter >>> 16);
        bits = Math.imul(bits, 0x21f0aaad);
        bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
        return (bits ^ (bits >>> 15)) >>> 0;
    };
    return {
        /** 32 bits */
        next,
        /** an integer from low to high, both included */
        integer: (low, high) => low + (next() % (high - low + 1)),
        /** a number from -1 up to 1 */
        signed: () => next() / 0x80000000 - 1,
    };
}
