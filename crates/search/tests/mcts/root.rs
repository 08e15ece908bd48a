//! Noise and temperatures at the root, and the choice of a move.

use surakarta_game::{Game, OLYMPIAD};
use surakarta_search::{Root, Search, SearchConfig, stream};

use crate::script::{Hashed, finish, search};

const SCRIPT: Hashed = Hashed { seed: 9, coarse: false };

fn priors(search: &Search) -> Vec<f32> {
    search.moves().map(|stats| stats.prior).collect()
}

#[test]
fn noise_has_the_moments_of_its_dirichlet_distribution() {
    let game = Game::new(OLYMPIAD);
    let mut rng = stream(1, [0; 3]);
    let config = SearchConfig { noise_alpha: 8.0, ..SearchConfig::default() };
    let fraction = config.noise_fraction;
    let mut tree = Search::new(config);
    let draws = 4000;
    let n = game.legal_moves().len() as f64;
    let (mut sums, mut squares) = (vec![0.0; n as usize], 0.0);
    for _ in 0..draws {
        tree.begin(&game, Root { simulations: 1, noise: true }, &mut rng);
        finish(&mut tree, &SCRIPT);
        let priors = priors(&tree);
        assert!((priors.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        for ((sum, prior), policy) in sums.iter_mut().zip(&priors).zip(tree.policy()) {
            let noise = ((prior - (1.0 - fraction) * policy) / fraction) as f64;
            assert!(noise > -1e-5);
            *sum += noise;
            squares += (noise - 1.0 / n).powi(2);
        }
    }
    // One evaluation in all: the root is the same, and noise is drawn anew over its own policy.
    assert_eq!(tree.simulations(), 1);
    let variance = (1.0 / n) * (1.0 - 1.0 / n) / (8.0 + 1.0);
    assert!((squares / (n * draws as f64) / variance - 1.0).abs() < 0.05);
    let error = 4.0 * (variance / draws as f64).sqrt();
    assert!(sums.iter().all(|sum| (sum / draws as f64 - 1.0 / n).abs() < error));
}

#[test]
fn noise_also_meets_an_inherited_root_and_goes_when_not_asked_for() {
    let mut game = Game::new(OLYMPIAD);
    let mut rng = stream(2, [0; 3]);
    let mut tree = Search::new(SearchConfig::default());
    search(&mut tree, &SCRIPT, &game, 300, &mut rng);
    assert_eq!(priors(&tree), tree.policy());
    game.play(tree.best().unwrap()).unwrap();
    tree.begin(&game, Root { simulations: 300, noise: true }, &mut rng);
    assert!(tree.simulations() > 1);
    assert_ne!(priors(&tree), tree.policy());
    tree.begin(&game, Root { simulations: 300, noise: false }, &mut rng);
    assert_eq!(priors(&tree), tree.policy());
    assert!((tree.policy().iter().sum::<f32>() - 1.0).abs() < 1e-5);
}

#[test]
fn noise_comes_from_the_stream_alone() {
    let game = Game::new(OLYMPIAD);
    let drawn = [7, 7, 8].map(|seed| {
        let mut tree = Search::new(SearchConfig::default());
        tree.begin(&game, Root { simulations: 60, noise: true }, &mut stream(seed, [0; 3]));
        finish(&mut tree, &SCRIPT);
        (priors(&tree), tree.policy_visits())
    });
    assert_eq!(drawn[0], drawn[1]);
    assert_ne!(drawn[0].0, drawn[2].0);
}

#[test]
fn root_temperature_flattens_the_prior() {
    let game = Game::new(OLYMPIAD);
    for root_temperature in [0.5, 1.3, 4.0] {
        let config = SearchConfig { root_temperature, ..SearchConfig::default() };
        let mut tree = Search::new(config);
        search(&mut tree, &SCRIPT, &game, 1, &mut stream(0, [0; 3]));
        let power = 1.0 / root_temperature as f64;
        let powers: Vec<f64> = tree.policy().iter().map(|&p| (p as f64).powf(power)).collect();
        let sum: f64 = powers.iter().sum();
        for (prior, power) in priors(&tree).into_iter().zip(powers) {
            assert!((prior as f64 - power / sum).abs() < 1e-5);
        }
    }
    let config = SearchConfig { root_temperature: 1e-3, ..SearchConfig::default() };
    let mut tree = Search::new(config);
    search(&mut tree, &SCRIPT, &game, 1, &mut stream(0, [0; 3]));
    assert!(priors(&tree).iter().any(|&prior| prior > 0.99));
}

#[test]
fn moves_are_drawn_in_proportion_to_powers_of_visits() {
    let game = Game::new(OLYMPIAD);
    let mut rng = stream(3, [0; 3]);
    let mut tree = Search::new(SearchConfig::default());
    search(&mut tree, &SCRIPT, &game, 200, &mut rng);
    let draws = 20_000;
    for temperature in [0.5, 1.0, 2.0] {
        let powers: Vec<f64> =
            tree.moves().map(|stats| (stats.visits as f64).powf(1.0 / temperature)).collect();
        let sum: f64 = powers.iter().sum();
        let mut counts = vec![0; powers.len()];
        for _ in 0..draws {
            let mv = tree.sample(temperature as f32, &mut rng).unwrap();
            counts[tree.moves().position(|stats| stats.mv == mv).unwrap()] += 1;
        }
        for (count, power) in counts.into_iter().zip(powers) {
            let p = power / sum;
            let error = 5.0 * (p * (1.0 - p) / draws as f64).sqrt() + 1e-9;
            assert!((count as f64 / draws as f64 - p).abs() < error, "temperature {temperature}");
        }
    }
}

#[test]
fn without_temperature_the_most_visited_is_chosen() {
    let game = Game::new(OLYMPIAD);
    let mut rng = stream(3, [0; 3]);
    let mut tree = Search::new(SearchConfig::default());
    for simulations in [1, 2, 5, 40, 400] {
        search(&mut tree, &SCRIPT, &game, simulations, &mut rng);
        let rank = |mv| {
            let stats = tree.moves().find(|stats| stats.mv == mv).unwrap();
            (stats.visits, stats.value, stats.prior)
        };
        let best = tree.best().unwrap();
        assert!(tree.moves().all(|stats| rank(stats.mv) <= rank(best)));
        assert_eq!(tree.sample(0.0, &mut rng), Some(best));
        // Cold enough to be certain, and no power overflows.
        let visits: Vec<u32> = tree.moves().map(|stats| stats.visits).collect();
        let most = visits.iter().max().unwrap();
        if visits.iter().filter(|visits| visits == &most).count() == 1 {
            assert_eq!(tree.sample(1e-4, &mut rng), Some(best));
        }
    }
}
