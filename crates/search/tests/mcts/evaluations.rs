//! What a player does to evaluations: keeps them, and takes the mean over the symmetries at the root.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::RngExt;
use surakarta_game::{Game, Move, Position, RuleSet, Symmetry};
use surakarta_net::{Batch, Evaluator, EvaluatorError, Outlook};
use surakarta_search::{
    Choice, Limits, MctsConfig, MctsPlayer, Method, MoveStats, Player, SearchConfig, stream,
};

use crate::script::{Hashed, Script, Scripted, random_game};

const SCRIPT: Hashed = Hashed { seed: 11, coarse: false };

/// The script, and how often it was asked.
struct Counted(Arc<AtomicU64>);

impl Evaluator for Counted {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        self.0.fetch_add(batch.len() as u64, Relaxed);
        Scripted(SCRIPT).evaluate(batch)
    }
}

fn counted(config: &MctsConfig) -> (MctsPlayer, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    (MctsPlayer::new(config.clone(), Box::new(Counted(Arc::clone(&count)))), count)
}

fn config(method: Method) -> MctsConfig {
    let search = SearchConfig { method, ..MctsConfig::default().search };
    MctsConfig { search, noise: true, ..MctsConfig::default() }
}

/// Choices and trees along a game that goes as the first player has it, and the evaluations counted.
fn found(mut player: MctsPlayer, mut game: Game) -> (Vec<(Choice, Vec<MoveStats>)>, MctsPlayer) {
    let limits = Limits { simulations: Some(150), ..Limits::default() };
    player.new_game(game.moves().len() as u64);
    let mut found = Vec::new();
    while game.result().is_none() && found.len() < 12 {
        let choice = player.choose(&game, &limits).unwrap();
        game.play(choice.mv).unwrap();
        found.push((choice, player.search().moves().collect()));
    }
    (found, player)
}

#[test]
fn whole_searches_are_the_same_with_and_without_a_cache() {
    let mut rng = stream(1, [8, 0, 0]);
    let (mut asked, mut saved) = (0, 0);
    for round in 0..30 {
        // Under rules against repetition the legal moves are not those of the position alone.
        let rules = RuleSet::ALL[round % RuleSet::ALL.len()];
        let method = if rng.random_bool(0.7) { Method::Puct } else { Method::Gumbel };
        let game = random_game(rules, &mut rng);
        let (plain, plain_count) = counted(&config(method));
        let (plain, _) = found(plain, game.clone());
        let (cached, count) = counted(&MctsConfig { cache_mib: 1, ..config(method) });
        let (cached, player) = found(cached, game.clone());
        assert_eq!(plain.len(), cached.len());
        for ((one, tree), (other, other_tree)) in plain.iter().zip(&cached) {
            assert_eq!((one.mv, one.value, &one.line), (other.mv, other.value, &other.line));
            assert_eq!(tree, other_tree);
            assert_eq!(one.work.simulations, other.work.simulations);
            assert_eq!(one.work.depth, other.work.depth);
        }
        // Work is what the network did.
        let sum = |found: &[(Choice, Vec<MoveStats>)]| -> u64 {
            found.iter().map(|(choice, _)| choice.work.evaluations).sum()
        };
        assert_eq!(sum(&plain), plain_count.load(Relaxed));
        assert_eq!(sum(&cached), count.load(Relaxed));
        (asked, saved) = (asked + sum(&plain), saved + sum(&plain) - sum(&cached));

        // A second game in the same position knows most of it already.
        let before = count.load(Relaxed);
        let (again, _) = found(player, game);
        assert_eq!(again.len(), cached.len());
        assert!(again.iter().zip(&cached).all(|(one, other)| one.1 == other.1));
        assert!(count.load(Relaxed) - before <= sum(&cached) / 2);
    }
    assert!(saved > 0, "{saved} of {asked}");
}

/// The mean over the symmetries, one view after another.
fn mean(position: &Position, moves: &[Move]) -> (Vec<f64>, Outlook) {
    let variant = position.variant();
    let (mut policy, mut wdl, mut margin) = (vec![0.0; moves.len()], [0.0f64; 3], 0.0);
    for symmetry in Symmetry::ALL {
        let view = position.under(symmetry);
        let seen: Vec<Move> = view.moves();
        let (said, outlook) = SCRIPT.evaluate(&view, &seen);
        for (mean, mv) in policy.iter_mut().zip(moves) {
            let at = seen.iter().position(|seen| *seen == mv.under(variant, symmetry)).unwrap();
            *mean += f64::from(said[at]) / 8.0;
        }
        (0..3).for_each(|n| wdl[n] += f64::from(outlook.wdl[n]) / 8.0);
        margin += f64::from(outlook.margin) / 8.0;
    }
    (policy, Outlook { wdl: wdl.map(|p| p as f32), margin: margin as f32 })
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-5
}

#[test]
fn a_root_is_the_mean_of_its_eight_views() {
    let mut rng = stream(2, [8, 0, 0]);
    let one_visit = Limits { simulations: Some(1), ..Limits::default() };
    for round in 0..40 {
        let method = if round % 2 == 0 { Method::Puct } else { Method::Gumbel };
        // Without rules against repetition the legal moves are those of the position.
        let mut game = random_game(RuleSet::ALL[0], &mut rng);
        let mut plain = MctsConfig { noise: false, ..config(method) };
        plain.search.root_temperature = 1.0;
        let symmetric = MctsConfig { symmetries: true, cache_mib: 1, ..plain.clone() };
        let (mut player, count) = counted(&symmetric);
        player.new_game(1);
        let moves = game.legal_moves();
        let (policy, outlook) = mean(game.position(), &moves);
        let choice = player.choose(&game, &one_visit).unwrap();
        assert!(close(choice.value.unwrap().into(), outlook.value().into()));
        assert_eq!((choice.work.evaluations, count.load(Relaxed)), (8, 8));
        let found: Vec<MoveStats> = player.search().moves().collect();
        assert_eq!(found.iter().map(|one| one.mv).collect::<Vec<_>>(), moves);
        for ((one, &p), &kept) in found.iter().zip(&policy).zip(player.search().policy()) {
            assert!(close(one.prior.into(), p) && close(kept.into(), p));
        }

        // A root that was a leaf of an earlier tree: its policy is the mean, too.
        let limits = Limits { simulations: Some(200), ..Limits::default() };
        let line = player.choose(&game, &limits).unwrap().line;
        line.iter().take(2).for_each(|&mv| game.play(mv).unwrap());
        if line.len() < 3 || game.result().is_some() {
            continue;
        }
        let (policy, _) = mean(game.position(), &game.legal_moves());
        let before = count.load(Relaxed);
        let choice = player.choose(&game, &limits).unwrap();
        assert_eq!(choice.work.evaluations, count.load(Relaxed) - before);
        for (one, &p) in player.search().moves().zip(&policy) {
            assert!(close(one.prior.into(), p));
        }
    }
}

#[test]
fn only_the_root_is_seen_from_all_sides() {
    let mut rng = stream(3, [8, 0, 0]);
    let game = random_game(RuleSet::ALL[0], &mut rng);
    let evaluations = |symmetries| {
        let plain = MctsConfig { symmetries, ..MctsConfig::default() };
        let (mut player, count) = counted(&plain);
        let limits = Limits { simulations: Some(2), ..Limits::default() };
        let choice = player.choose(&game, &limits).unwrap();
        assert_eq!(choice.work.evaluations, count.load(Relaxed));
        choice.work.evaluations
    };
    assert_eq!(evaluations(true), evaluations(false) + 7);
}
