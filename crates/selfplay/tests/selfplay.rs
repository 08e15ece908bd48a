//! Shards do not depend on threads, on lockstep or on interruptions, and hold what the searches did.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use support::{around, config, contents, games, header, network, play, play_by, pool, silent};
use surakarta_game::Variant;
use surakarta_net::{Batch as Leaves, Evaluator, EvaluatorError, Mlp, Shape, Weights};
use surakarta_record::shard::verify;
use surakarta_record::{Policy, SearchKind, Shard, ShardHeader};
use surakarta_search::{
    GreedyConfig, GreedyPlayer, Limits, Method, Player, Root, Search, SearchConfig, Step,
};
use surakarta_selfplay::{Batch, Beginnings, SelfplayConfig, Source};

#[test]
fn shards_are_the_same_for_any_threads_and_lockstep() {
    let one = tempfile::tempdir().unwrap();
    let played = play(one.path(), &config(), 0..14, 1, &|| false).unwrap();
    assert!(played.complete);
    assert_eq!(played.shards.len(), 4);
    assert_eq!(played.progress.totals.games, 14);
    for (threads, games_in_flight) in [(2, 3), (3, 1), (2, 50)] {
        let other = tempfile::tempdir().unwrap();
        let config = SelfplayConfig { games_in_flight, ..config() };
        play(other.path(), &config, 0..14, threads, &|| false).unwrap();
        assert_eq!(contents(one.path()), contents(other.path()));
    }
    // Two ranges played apart are the whole.
    let apart = tempfile::tempdir().unwrap();
    play(apart.path(), &config(), 8..14, 2, &|| false).unwrap();
    play(apart.path(), &config(), 0..8, 2, &|| false).unwrap();
    assert_eq!(contents(one.path()), contents(apart.path()));
}

#[test]
fn a_stopped_batch_goes_on_where_it_was() {
    let whole = tempfile::tempdir().unwrap();
    play(whole.path(), &config(), 0..20, 2, &|| false).unwrap();
    let parts = tempfile::tempdir().unwrap();
    // The first look, before any worker begins, says to stop.
    let stopped = play(parts.path(), &config(), 0..20, 2, &|| true).unwrap();
    assert!(!stopped.complete);
    assert!(contents(parts.path()).is_empty());
    // As after a kill: some shards are there, one was cut short, one is only a temporary file.
    for (n, (name, bytes)) in contents(whole.path()).into_iter().enumerate() {
        match n {
            0 | 3 => fs::write(parts.path().join(name), bytes).unwrap(),
            1 => fs::write(parts.path().join(name), &bytes[..bytes.len() / 2]).unwrap(),
            2 => fs::write(parts.path().join(name + ".tmp"), &bytes[..9]).unwrap(),
            _ => {}
        }
    }
    let played = play(parts.path(), &config(), 0..20, 2, &|| false).unwrap();
    assert_eq!(played.progress.totals.games, 12);
    let (whole, parts) = (contents(whole.path()), contents(parts.path()));
    for (name, bytes) in &whole {
        assert_eq!(parts.get(name), Some(bytes), "{name}");
    }
    assert!(parts.keys().any(|name| name.ends_with(".damaged")));
}

#[test]
fn shards_of_another_setting_are_not_taken_for_ours() {
    let folder = tempfile::tempdir().unwrap();
    play(folder.path(), &config(), 0..4, 1, &|| false).unwrap();
    let before = contents(folder.path());
    let source = || Ok(Box::new(network()) as Box<dyn Evaluator>);
    let source = Source::Search { search: SearchConfig::default(), evaluator: &source };
    let header = ShardHeader { weights: Some("other".to_owned()), ..header() };
    let batch = Batch {
        header: &header,
        config: &config(),
        games: 0..4,
        folder: folder.path(),
        tables: None,
        beginnings: &Beginnings::default(),
    };
    let error = batch.play(&source, around(&pool(1), &|| false, &silent())).unwrap_err();
    assert!(error.to_string().contains("another network"), "{error}");
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn every_variant_is_played_and_kept_apart() {
    for variant in Variant::ALL {
        let folder = tempfile::tempdir().unwrap();
        let play = |variant: Variant, network: Variant| {
            let weights = Weights::random(Shape::mlp(&[16]).unwrap(), network, 7);
            let evaluator = || Ok(Box::new(Mlp::new(&weights)) as Box<dyn Evaluator>);
            let source = Source::Search { search: SearchConfig::default(), evaluator: &evaluator };
            let header = ShardHeader { variant, ..header() };
            let config = config();
            let batch = Batch {
                header: &header,
                config: &config,
                games: 0..8,
                folder: folder.path(),
                tables: None,
                beginnings: &Beginnings::default(),
            };
            batch.play(&source, around(&pool(2), &|| false, &silent()))
        };
        let other = Variant::ALL[(variant as usize + 1) % 4];
        let error = play(variant, other).unwrap_err().to_string();
        let both = format!("for the variant {other} and the game is one of {variant};");
        assert!(error.contains(&both), "{error}");

        let played = play(variant, variant).unwrap();
        let mut full = 0;
        for path in &played.shards {
            assert_eq!(verify(path).unwrap().variant, variant);
            let games = Shard::read(path).unwrap().games;
            assert!(games.iter().all(|game| game.start.variant() == variant));
            full += games.iter().flat_map(|game| game.samples()).count();
        }
        assert!(full > 20, "{full} samples of {variant}");
        let error = play(other, other).unwrap_err().to_string();
        assert!(error.contains("another variant"), "{error}");
        assert!(error.contains(variant.name()) && error.contains(other.name()), "{error}");
    }
}

#[test]
fn records_hold_what_a_search_alone_would_do() {
    for method in [Method::Puct, Method::Gumbel] {
        let folder = tempfile::tempdir().unwrap();
        let search = SearchConfig { method, ..SearchConfig::default() };
        let played = play_by(search.clone(), folder.path(), &config(), 0..8, 2, &|| false).unwrap();
        let mut full = 0;
        for path in played.shards {
            verify(&path).unwrap();
            let shard = Shard::read(&path).unwrap();
            for game in &shard.games {
                full += compare(game, &config(), &search);
            }
        }
        assert!(full > 20, "only {full} full searches");
    }
}

#[test]
fn temperature_falls_slowly_where_that_is_wanted() {
    let config = SelfplayConfig {
        sampled_plies: [0, 6],
        temperature: 0.75,
        temperature_end: 0.25,
        temperature_halflife: 8.0,
        ..config()
    };
    let folder = tempfile::tempdir().unwrap();
    let played = play(folder.path(), &config, 0..8, 2, &|| false).unwrap();
    let games = games(&played);
    assert!(
        games.iter().map(|game| compare(game, &config, &SearchConfig::default())).sum::<usize>()
            > 20
    );
}

/// Searches every recorded position of a game with a plain driver, one leaf at a time, and draws the
/// same random numbers. Returns the number of full searches.
fn compare(
    record: &surakarta_record::GameRecord,
    config: &SelfplayConfig,
    settings: &SearchConfig,
) -> usize {
    use rand::RngExt;
    let mut network = network();
    let mut random = surakarta_search::stream(5, [2, record.number, 0]);
    let mut game = surakarta_game::Game::new(surakarta_game::OLYMPIAD);
    let opening = random.random_range(config.opening_plies[0]..=config.opening_plies[1]) as usize;
    for ply in &record.plies[..opening] {
        let moves = game.legal_moves();
        assert_eq!(ply.mv, moves[random.random_range(0..moves.len())]);
        assert_eq!(ply.search, SearchKind::Opening);
        game.play(ply.mv).unwrap();
    }
    let [least, most] = config.sampled_plies;
    let sampled = random.random_range(least..=most) as usize;
    let mut search = Search::new(settings.clone());
    let mut batch = Leaves::default();
    let mut full_searches = 0;
    for (n, ply) in record.plies.iter().enumerate().skip(opening) {
        let full = random.random_bool(config.full_share);
        let simulations = if full { config.full_simulations } else { config.fast_simulations };
        search.begin(&game, Root { simulations, noise: full }, &mut random);
        loop {
            batch.clear();
            let Step::Leaf(at) = search.step(&mut batch) else { break };
            network.evaluate(&mut batch).unwrap();
            search.accept(&batch, at);
        }
        if full && settings.method == Method::Gumbel {
            assert_eq!(search.best(), Some(ply.mv), "ply {n}");
        } else {
            let temperature = match config.temperature_halflife {
                0.0 if n < sampled => 1.0,
                0.0 => 0.0,
                // The one that a test asks for.
                _ => 0.25 + 0.5 * 0.5f32.powf(n.saturating_sub(sampled) as f32 / 8.0),
            };
            assert_eq!(search.sample(temperature, &mut random), Some(ply.mv), "ply {n}");
        }
        assert_eq!(ply.simulations, search.simulations());
        assert!((ply.value.unwrap() - search.value().unwrap()).abs() < 1e-4);
        if full {
            full_searches += 1;
            assert_eq!(ply.search, SearchKind::Full);
            match settings.method {
                Method::Puct => {
                    let visits = Policy::Visits(search.policy_visits());
                    assert_eq!(sorted(&ply.policy), sorted(&visits));
                }
                Method::Gumbel => {
                    assert!(matches!(ply.policy, Policy::Improved(_)));
                    let kept: BTreeMap<_, _> = ply.policy.shares().into_iter().collect();
                    for (mv, p) in search.improved_policy() {
                        let kept = kept.get(&mv).copied().unwrap_or(0.0);
                        // Half a unit, and a sum that rounding has moved.
                        assert!((kept - p).abs() < 0.002 + 0.1 * p, "{mv}: {kept} for {p}");
                    }
                }
            }
        } else {
            assert_eq!((ply.search, &ply.policy), (SearchKind::Fast, &Policy::None));
        }
        game.play(ply.mv).unwrap();
    }
    assert_eq!(game.result(), Some(record.result));
    full_searches
}

fn sorted(policy: &Policy) -> Vec<(surakarta_game::Move, u32)> {
    let Policy::Visits(visits) = policy else { panic!("no visits: {policy:?}") };
    let mut visits = visits.clone();
    visits.sort();
    visits
}

#[test]
fn any_player_can_play_and_its_failure_ends_the_batch() {
    let folder = tempfile::tempdir().unwrap();
    let header = ShardHeader { player: "greedy".to_owned(), ..header() };
    let batch = Batch {
        header: &header,
        config: &config(),
        games: 0..8,
        folder: folder.path(),
        tables: None,
        beginnings: &Beginnings::default(),
    };
    let player = || Ok(Box::new(GreedyPlayer::new(GreedyConfig::default())) as Box<dyn Player>);
    let source = Source::Player { limits: Limits::default(), player: &player };
    let played = batch.play(&source, around(&pool(2), &|| false, &silent())).unwrap();
    assert_eq!((played.complete, played.progress.totals.games), (true, 8));
    played.shards.iter().for_each(|path| drop(verify(path).unwrap()));

    let calls = AtomicU32::new(0);
    struct Failing(Mlp, u32);
    impl Evaluator for Failing {
        fn evaluate(&mut self, batch: &mut Leaves) -> Result<(), EvaluatorError> {
            self.1 += 1;
            if self.1 > 50 {
                return Err(EvaluatorError("out of memory".to_owned()));
            }
            self.0.evaluate(batch)
        }
    }
    let failing = || {
        calls.fetch_add(1, Relaxed);
        Ok(Box::new(Failing(network(), 0)) as Box<dyn Evaluator>)
    };
    let source = Source::Search { search: SearchConfig::default(), evaluator: &failing };
    let other = tempfile::tempdir().unwrap();
    let batch = Batch {
        header: &header,
        config: &config(),
        games: 0..400,
        folder: other.path(),
        tables: None,
        beginnings: &Beginnings::default(),
    };
    let error = batch.play(&source, around(&pool(2), &|| false, &silent())).unwrap_err();
    assert!(error.to_string().contains("out of memory"), "{error}");
    assert_eq!(calls.load(Relaxed), 2);
}

#[test]
#[should_panic(expected = "a bug in the network")]
fn a_panic_ends_the_batch_too() {
    struct Buggy;
    impl Evaluator for Buggy {
        fn evaluate(&mut self, _: &mut Leaves) -> Result<(), EvaluatorError> {
            panic!("a bug in the network");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let evaluator = || Ok(Box::new(Buggy) as Box<dyn Evaluator>);
    let source = Source::Search { search: SearchConfig::default(), evaluator: &evaluator };
    let header = header();
    let batch = Batch {
        header: &header,
        config: &config(),
        games: 0..8,
        folder: folder.path(),
        tables: None,
        beginnings: &Beginnings::default(),
    };
    let _ = batch.play(&source, around(&pool(2), &|| false, &silent()));
}
