//! Forced visits and what is taken out of the policy again, worked out by hand.

use surakarta_game::{Game, Move, OLYMPIAD, Position};
use surakarta_search::{Root, Search, SearchConfig, stream};

use crate::script::{Script, even, finish, game, outlook};

/// c = 1, no first-play reduction and no noise, though it is asked for.
fn plain(forced_playouts: f32) -> Search {
    Search::new(SearchConfig {
        c_init: 1.0,
        fpu_reduction: 0.0,
        root_fpu_reduction: 0.0,
        noise_fraction: 0.0,
        forced_playouts,
        ..SearchConfig::default()
    })
}

fn visits(search: &Search) -> Vec<u32> {
    search.moves().map(|stats| stats.visits).collect()
}

fn learned(search: &Search) -> Vec<u32> {
    let learned = search.policy_visits();
    let of = |mv| learned.iter().find(|&&(other, _)| other == mv).map_or(0, |&(_, visits)| visits);
    search.moves().map(|stats| of(stats.mv)).collect()
}

#[test]
fn moves_get_what_they_are_owed() {
    let game = game(OLYMPIAD, "w5/6/6/6/6/b5 b 0 1", "");
    let script = |_: &Position, moves: &[Move]| {
        let mut policy = vec![0.0; moves.len()];
        policy[..3].copy_from_slice(&[10.0 / 16.0, 5.0 / 16.0, 1.0 / 16.0]);
        (policy, outlook(0.0))
    };
    // All values are 0, so that PUCT takes the highest of 10, 5, 1, each over 1 + its visits. But
    // after three visits of moves the second is owed √(2 · 3 · 5/16) = 1.37, after four the first
    // √(2 · 4 · 10/16) = 2.24, and after seven the second √(2 · 7 · 5/16) = 2.09.
    let expected = [
        ([1, 0, 0], [1, 0, 0]),
        ([2, 0, 0], [2, 0, 0]),
        // Without its visit the second would be chosen, at 5 against 10/3.
        ([2, 1, 0], [2, 1, 0]),
        // It gives back the visit that was forced, at 5/2 against 10/3, and the only one left.
        ([2, 2, 0], [2, 0, 0]),
        ([3, 2, 0], [3, 0, 0]),
        // It would be chosen, at 5/2 against 10/5 and 10/6.
        ([4, 2, 0], [4, 2, 0]),
        ([5, 2, 0], [5, 2, 0]),
        ([5, 3, 0], [5, 3, 0]),
        ([6, 3, 0], [6, 3, 0]),
        ([7, 3, 0], [7, 3, 0]),
    ];
    for (n, (all, kept)) in expected.into_iter().enumerate() {
        let mut tree = plain(2.0);
        let root = Root { simulations: n as u32 + 2, noise: true };
        tree.begin(&game, root, &mut stream(0, [0; 3]));
        finish(&mut tree, &script);
        assert_eq!(visits(&tree), all, "after {} visits of moves", n + 1);
        // At five and eight, 5/2 and 5/3 stand against the same: the last bits decide.
        if ![5, 8].contains(&(n + 1)) {
            assert_eq!(learned(&tree), kept, "after {} visits of moves", n + 1);
        }
    }
}

/// Any move ends the game: one takes the last piece and wins, the others draw. The policy wants the
/// first and one that draws.
fn decided() -> (Game, impl Script, [usize; 2]) {
    let game = game("olympiad,no-capture=1".parse().unwrap(), "6/6/6/6/w5/1b4 b 0 1", "");
    let moves = game.legal_moves();
    let takes = moves.iter().position(|&mv| game.position().is_capture(mv)).unwrap();
    let quiet = moves.iter().position(|&mv| !game.position().is_capture(mv)).unwrap();
    let script = move |position: &Position, moves: &[Move]| {
        let (mut policy, outlook) = even(position, moves);
        policy.fill(0.0);
        (policy[takes], policy[quiet]) = (0.5, 0.5);
        (policy, outlook)
    };
    (game, script, [takes, quiet])
}

#[test]
fn forced_visits_of_a_worse_move_are_not_learned() {
    let (game, script, moves) = decided();
    // k = 2 and P = ½ owe √N. After 100 visits the draw has 10 of them, and PUCT would not choose it
    // with 4: ½ · √101 / 5 = 1.00 against 1 + ½ · √101 / 91 = 1.06, but at 1.26 with 3. After 16 it
    // has 4, and even with 1 it is not chosen, at 1.03 against 1.16: then it has none.
    for (n, all, kept) in [(100, [90, 10], [90, 4]), (16, [12, 4], [12, 0])] {
        let mut tree = plain(2.0);
        let root = Root { simulations: n + 1, noise: true };
        tree.begin(&game, root, &mut stream(0, [0; 3]));
        finish(&mut tree, &script);
        assert_eq!(moves.map(|at| visits(&tree)[at]), all);
        assert_eq!(moves.map(|at| learned(&tree)[at]), kept);
        assert_eq!(learned(&tree).iter().sum::<u32>(), kept[0] + kept[1]);
        // What is not learned is not played either.
        let worse = tree.moves().nth(moves[1]).unwrap().mv;
        let draws =
            (0..400).filter(|&seed| tree.sample(1.0, &mut stream(seed, [1, 0, 0])) == Some(worse));
        let share = draws.count() as f64 / 400.0;
        let expected = kept[1] as f64 / (kept[0] + kept[1]) as f64;
        assert!((share - expected).abs() < 0.03, "{share}");
        assert_eq!(share == 0.0, kept[1] == 0);
    }
}

#[test]
fn nothing_is_forced_without_noise_or_without_a_factor() {
    let (game, script, moves) = decided();
    for (k, noise) in [(2.0, false), (0.0, true), (0.0, false)] {
        let mut tree = plain(k);
        tree.begin(&game, Root { simulations: 101, noise }, &mut stream(0, [0; 3]));
        finish(&mut tree, &script);
        assert_eq!(moves.map(|at| visits(&tree)[at]), [96, 4]);
        assert_eq!(learned(&tree), visits(&tree));
    }
}

#[test]
fn a_factor_below_0_is_refused() {
    let error = SearchConfig { forced_playouts: -1.0, ..SearchConfig::default() }.validate();
    assert_eq!(error.unwrap_err(), "forced_playouts is -1; it must be 0 or a number above");
}
