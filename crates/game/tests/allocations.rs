//! Move generation, perft and random games allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use surakarta_game::{Game, OLYMPIAD, Position, Variant, perft, play_out, play_out_many};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all is left to the system's allocator; counting touches a plain number of this thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `f` allocates.
fn allocations(f: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 32
    }
}

#[test]
fn nothing_is_allocated() {
    assert_eq!(allocations(|| drop(vec![1])), 1, "an allocation is counted");
    for variant in Variant::ALL {
        let position = Position::start(variant);
        assert_eq!(allocations(|| assert!(perft(&position, 3) > 0)), 0);
        let listed = || {
            let mut count = 0;
            position.for_each_move(|mv| count += position.is_legal(mv) as u64);
            assert_eq!(count, position.count_moves());
            assert!(position.nth_move(count - 1).is_some() && position.nth_move(count).is_none());
            assert!(position.has_move() && !position.has_capture());
            assert_eq!(position.attacks().len(), 2);
        };
        assert_eq!(allocations(listed), 0);
    }
    let game = Game::new(OLYMPIAD);
    assert_eq!(allocations(|| assert!(play_out(&game, u32::MAX, numbers(1)).plies > 0)), 0);
    let many = || play_out_many(&game, u32::MAX, 20, numbers, |_, one| assert!(one.plies > 0));
    assert_eq!(allocations(many), 0);
}
