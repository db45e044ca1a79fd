// request-arena against bumpalo 3.12, an allocation in the open chunk, side by side in one process.
// Rounds of the two alternate, so that a slow spell of the machine meets both. Shown is the fastest
// round of each (nothing makes a loop faster than it is; neighbours make it slower) and their ratio,
// then the median of the ratios of neighbouring rounds. ours.c has the same loops.
use bumpalo::Bump;
use std::alloc::Layout;
use std::arch::asm;
use std::hint::black_box;
use std::time::Instant;

extern "C" {
    fn ours_fixed(objects: usize);
    fn ours_mixed(sizes: *const usize, objects: usize);
    fn ours_called(sizes: *const usize, objects: usize, align: usize);
}

const CHUNK: usize = 256 << 10;
const OBJECTS: usize = 1500; // of 72 bytes on average, 128 at most: they fit into one chunk
const REQUESTS: usize = 40; // a round
const ROUNDS: usize = 2001;

#[inline(always)]
fn consume(object: *mut u64) {
    unsafe { asm!("/* {0} */", in(reg) object, options(nostack, preserves_flags)) }
}

fn theirs_fixed(bump: &mut Bump, objects: usize) {
    for i in 0..objects as u64 {
        consume(bump.alloc([i; 4]).as_mut_ptr());
    }
    bump.reset();
}

fn theirs_mixed(bump: &mut Bump, sizes: &[usize]) {
    for (i, &size) in sizes.iter().enumerate() {
        let layout = unsafe { Layout::from_size_align_unchecked(size, 8) };
        let object = bump.alloc_layout(layout).as_ptr() as *mut u64;
        unsafe { object.write(i as u64) };
        consume(object);
    }
    bump.reset();
}

// What a bumpalo behind a C interface would be: size and alignment are known at run time only.
#[no_mangle]
#[inline(never)]
pub extern "C" fn bump_alloc(bump: &Bump, size: usize, align: usize) -> *mut u8 {
    bump.alloc_layout(unsafe { Layout::from_size_align_unchecked(size, align) }).as_ptr()
}

fn theirs_called(bump: &mut Bump, sizes: &[usize], align: usize) {
    for (i, &size) in sizes.iter().enumerate() {
        let object = bump_alloc(bump, size, align) as *mut u64;
        unsafe { object.write(i as u64) };
        consume(object);
    }
    bump.reset();
}

fn ns_per_object(mut request: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..REQUESTS {
        request();
    }
    start.elapsed().as_nanos() as f64 / (REQUESTS * OBJECTS) as f64
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(values: &mut Vec<f64>) -> f64 {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap());
    values[values.len() / 2]
}

fn compare(name: &str, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    let (mut a, mut b, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (one, two);
        if round % 2 == 0 {
            one = ns_per_object(&mut ours);
            two = ns_per_object(&mut theirs);
        } else {
            two = ns_per_object(&mut theirs);
            one = ns_per_object(&mut ours);
        }
        a.push(one);
        b.push(two);
        ratios.push(one / two);
    }
    let (one, two) = (least(&a), least(&b));
    println!("{:36} {:>8.2} ns {:>8.2} ns {:>8.2} {:>8.2}", name, one, two, one / two, median(&mut ratios));
}

fn main() {
    let mut dice = 42u64;
    let sizes: Vec<usize> = (0..OBJECTS)
        .map(|_| {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            16 + (dice >> 33) as usize % 113
        })
        .collect();
    let mut one = Bump::with_capacity(CHUNK);
    let mut two = Bump::with_capacity(CHUNK);
    let mut three = Bump::with_capacity(CHUNK);
    println!(
        "{:36} {:>11} {:>11} {:>8} {:>8}",
        "an allocation, its share of a reset", "ours", "bumpalo", "ratio", "median"
    );
    compare("32 bytes, inline", || unsafe { ours_fixed(OBJECTS) }, || theirs_fixed(&mut one, OBJECTS));
    compare(
        "16 … 128 bytes, inline",
        || unsafe { ours_mixed(sizes.as_ptr(), OBJECTS) },
        || theirs_mixed(&mut two, &sizes),
    );
    compare(
        "16 … 128 bytes, by a call",
        || unsafe { ours_called(sizes.as_ptr(), OBJECTS, black_box(8)) },
        || theirs_called(&mut three, &sizes, black_box(8)),
    );
}
