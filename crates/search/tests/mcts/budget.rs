//! Budgets, kept trees, lockstep, interruptions.

use rand::RngExt;
use surakarta_game::{Game, Move, OLYMPIAD, RuleSet};
use surakarta_net::Batch;
use surakarta_search::{MoveStats, Proof, Root, Search, SearchConfig, Step, stream};

use crate::script::{Hashed, evaluate, even, finish, game, random_game, search};

const SCRIPT: Hashed = Hashed { seed: 5, coarse: false };

#[test]
fn a_budget_is_exact_and_counts_what_is_inherited() {
    for seed in 0..60 {
        let mut rng = stream(seed, [1, 0, 0]);
        let mut game = random_game(RuleSet::ALL[seed as usize % 5], &mut rng);
        let mut tree = Search::new(SearchConfig::default());
        let mut inherited = 0;
        while game.result().is_none() && game.moves().len() < 200 {
            let budget = rng.random_range(1..120);
            search(&mut tree, &SCRIPT, &game, budget, &mut rng);
            assert_eq!(tree.simulations(), budget.max(inherited));
            assert_eq!(
                tree.work().simulations,
                tree.simulations().saturating_sub(inherited) as u64
            );
            assert!(tree.work().evaluations <= tree.work().simulations);
            let visits: u32 = tree.policy_visits().iter().map(|(_, visits)| visits).sum();
            assert_eq!(visits, tree.simulations() - 1);
            // Our move and the answer, as in a game against another player.
            let mv = tree.sample(1.0, &mut rng).unwrap();
            inherited = tree.moves().find(|stats| stats.mv == mv).unwrap().visits;
            game.play(mv).unwrap();
            if rng.random_bool(0.3) {
                let mut other = game.clone();
                other.undo();
                search(&mut tree, &SCRIPT, &other, 1, &mut rng);
                assert_eq!(tree.work().simulations, 0, "the root has not moved yet");
            }
        }
    }
}

#[test]
fn a_tree_follows_two_moves_at_once_and_no_other_game() {
    let mut rng = stream(2, [0; 3]);
    let mut played = Game::new(OLYMPIAD);
    let mut tree = Search::new(SearchConfig::default());
    search(&mut tree, &SCRIPT, &played, 2000, &mut rng);
    let line: Vec<Move> = tree.line();
    assert!(line.len() >= 3);
    let start = tree.clone();
    line[..2].iter().for_each(|&mv| played.play(mv).unwrap());

    search(&mut tree, &SCRIPT, &played, 0, &mut rng);
    assert!(tree.simulations() > 1);
    assert_eq!(tree.line(), line[2..]);
    assert_eq!(tree.work().simulations, 0);
    let kept: u32 = tree.policy_visits().iter().map(|(_, visits)| visits).sum();
    assert_eq!(tree.simulations(), kept + 1);

    // Taken back, other rules, another start, a move that was never tried, or forgotten.
    let mut cases = vec![(tree.clone(), Game::new(OLYMPIAD))];
    let mut contest = Game::new(surakarta_game::CONTEST);
    line[..2].iter().for_each(|&mv| contest.play(mv).unwrap());
    cases.push((start.clone(), contest));
    cases.push((start.clone(), game(OLYMPIAD, "w5/6/6/6/6/b5 b 0 1", "")));
    let mut few = Search::new(SearchConfig::default());
    search(&mut few, &even, &Game::new(OLYMPIAD), 3, &mut rng);
    let untried = few.moves().find(|stats| stats.visits == 0).unwrap().mv;
    let mut untrodden = Game::new(OLYMPIAD);
    untrodden.play(untried).unwrap();
    cases.push((few, untrodden));
    let mut forgotten = start.clone();
    forgotten.clear();
    cases.push((forgotten, Game::new(OLYMPIAD)));
    for (n, (mut tree, game)) in cases.into_iter().enumerate() {
        search(&mut tree, &SCRIPT, &game, 10, &mut rng);
        assert_eq!(tree.work().simulations, 10, "case {n}");
    }
}

/// Plays a whole game by itself, one search after the other, and says what every search found.
fn alone(seed: u64) -> Vec<(Vec<MoveStats>, Option<f32>)> {
    let mut player = SelfPlay::new(seed);
    while !player.over() {
        finish(&mut player.search, &SCRIPT);
        player.play();
    }
    player.found
}

struct SelfPlay {
    game: Game,
    search: Search,
    rng: surakarta_search::Stream,
    found: Vec<(Vec<MoveStats>, Option<f32>)>,
}

impl SelfPlay {
    fn new(seed: u64) -> SelfPlay {
        let search = Search::new(SearchConfig::default());
        let (game, rng) = (Game::new(OLYMPIAD), stream(3, [seed, 0, 0]));
        let mut player = SelfPlay { game, search, rng, found: Vec::new() };
        player.begin();
        player
    }

    fn over(&self) -> bool {
        self.game.result().is_some()
    }

    fn begin(&mut self) {
        let simulations = if self.rng.random_bool(0.3) { 80 } else { 20 };
        let root = Root { simulations, noise: simulations == 80 };
        self.search.begin(&self.game, root, &mut self.rng);
    }

    fn play(&mut self) {
        self.found.push((self.search.moves().collect(), self.search.value()));
        let mv = self.search.sample(1.0, &mut self.rng).unwrap();
        self.game.play(mv).unwrap();
        if !self.over() {
            self.begin();
        }
    }
}

#[test]
fn games_in_lockstep_are_games_alone() {
    let mut games: Vec<SelfPlay> = (0..24).map(SelfPlay::new).collect();
    let mut batch = Batch::default();
    while games.iter().any(|player| !player.over()) {
        batch.clear();
        let mut waiting = Vec::new();
        for player in games.iter_mut().filter(|player| !player.over()) {
            loop {
                match player.search.step(&mut batch) {
                    Step::Leaf(at) => {
                        waiting.push((player, at));
                        break;
                    }
                    Step::Done => player.play(),
                }
                if player.over() {
                    break;
                }
            }
        }
        evaluate(&SCRIPT, &mut batch);
        waiting.into_iter().for_each(|(player, at)| player.search.accept(&batch, at));
    }
    for (seed, player) in games.into_iter().enumerate() {
        assert_eq!(player.found, alone(seed as u64), "game {seed}");
    }
}

#[test]
fn a_leaf_can_be_asked_for_again_or_given_up() {
    let game = Game::new(OLYMPIAD);
    let mut expected = Search::new(SearchConfig::default());
    search(&mut expected, &SCRIPT, &game, 50, &mut stream(0, [0; 3]));
    let expected: Vec<MoveStats> = expected.moves().collect();

    // The evaluator fails once in a while: the position is asked for again.
    let mut tree = Search::new(SearchConfig::default());
    let mut batch = Batch::default();
    tree.begin(&game, Root { simulations: 50, noise: false }, &mut stream(0, [0; 3]));
    let mut n = 0;
    while let Step::Leaf(at) = tree.step(&mut batch) {
        n += 1;
        if n % 3 == 0 {
            continue;
        }
        evaluate(&SCRIPT, &mut batch);
        tree.accept(&batch, at);
        if n % 5 == 0 {
            // Beginning again in the middle keeps the tree and drops only the descent under way.
            assert!(matches!(tree.step(&mut batch), Step::Leaf(_)) || tree.simulations() == 50);
            tree.begin(&game, Root { simulations: 50, noise: false }, &mut stream(0, [0; 3]));
        }
    }
    assert!(n > 50);
    // Priors visited are added up anew at each beginning, so values may differ in the last bits.
    for (one, other) in tree.moves().zip(&expected) {
        assert_eq!((one.mv, one.visits), (other.mv, other.visits));
    }
}

/// Whether the rest of 200 simulations cannot change the most visited of the moves that may be played.
fn is_decided(search: &Search) -> bool {
    let running = search.moves().filter(|stats| stats.proof != Some(Proof::Loss));
    let mut visits: Vec<u32> = running.map(|stats| stats.visits).collect();
    visits.sort_unstable_by(|a, b| b.cmp(a));
    visits.resize(2.max(visits.len()), 0);
    let left = 200 - search.simulations();
    left <= 100 && visits[0] - visits[1] > left
}

#[test]
fn a_decided_search_stops_at_the_first_moment_with_the_same_move() {
    let (mut stopped, mut rng) = (0, stream(4, [0; 3]));
    for round in 0..120 {
        let game = random_game(OLYMPIAD, &mut rng);
        let solve = round % 2 == 1;
        let config = SearchConfig { solve, ..SearchConfig::default() };
        let mut early = Search::new(SearchConfig { stop_early: true, ..config.clone() });
        search(&mut early, &SCRIPT, &game, 200, &mut rng);

        // One simulation at a time, and a look at all moves after each.
        let mut full = Search::new(config);
        let mut decided = None;
        search(&mut full, &SCRIPT, &game, 1, &mut rng);
        for simulations in 1..=200 {
            full.extend(simulations);
            finish(&mut full, &SCRIPT);
            if decided.is_none() && is_decided(&full) {
                decided = Some(full.simulations());
            }
        }
        let end = full.simulations();
        assert!(end == 200 || full.proof().is_some());
        assert_eq!(early.simulations(), decided.unwrap_or(end));
        // What is proven later may well change the move.
        if full.moves().all(|stats| stats.proof.is_none()) {
            assert_eq!(full.best(), early.best());
        }
        stopped += usize::from(early.simulations() < end);
    }
    assert!(stopped > 10);
}

#[test]
fn a_forced_move_is_only_evaluated_if_asked_so() {
    let forced = game(OLYMPIAD, "6/6/6/6/w5/bw4 b 0 1", "");
    let free = game(OLYMPIAD, "6/6/6/6/w5/b5 b 0 1", "");
    assert_eq!((forced.legal_moves().len(), free.legal_moves().len()), (1, 2));
    for (game, skip_forced, expected) in
        [(&forced, true, 1), (&forced, false, 30), (&free, true, 30), (&free, false, 30)]
    {
        let mut tree = Search::new(SearchConfig { skip_forced, ..SearchConfig::default() });
        search(&mut tree, &even, game, 30, &mut stream(0, [0; 3]));
        tree.extend(30);
        finish(&mut tree, &even);
        assert_eq!(tree.simulations(), expected);
        assert!(game.legal_moves().contains(&tree.best().unwrap()));
    }
}

#[test]
fn a_finished_game_has_nothing_to_search() {
    let game = game(OLYMPIAD, "6/6/6/6/6/b5 w 0 1", "");
    assert!(game.result().is_some());
    let mut tree = Search::new(SearchConfig::default());
    search(&mut tree, &even, &game, 30, &mut stream(0, [0; 3]));
    assert_eq!((tree.simulations(), tree.best(), tree.value()), (0, None, None));
    assert!(tree.line().is_empty() && tree.policy_visits().is_empty());
    assert_eq!(tree.sample(1.0, &mut stream(0, [0; 3])), None);
}
