//! How random games end: `cargo run --release --example random_games -- 100000 threefold rural` (a
//! number of games, a rule set, a variant).

use std::collections::BTreeMap;
use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{Color, Game, Outcome, Position, RuleSet, Variant, play_out_many};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let games: u64 = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let rules = arguments.next().map_or(Ok(RuleSet::default()), |text| text.parse())?;
    let variant = arguments.next().map_or(Ok(Variant::Standard), |text| text.parse())?;

    // Each game has a stream of random numbers of its own.
    let stream = |game| {
        let mut rng = ChaCha8Rng::seed_from_u64(game);
        move || rng.next_u64()
    };
    let (mut plies, mut endings, mut outcomes) = (0u64, BTreeMap::new(), [0u64; 3]);
    let began = Instant::now();
    let start = Game::from_position(rules, Position::start(variant));
    play_out_many(&start, u32::MAX, games, stream, |_, playout| {
        plies += u64::from(playout.plies);
        outcomes[match playout.outcome() {
            Outcome::Win(Color::Black) => 0,
            Outcome::Draw => 1,
            Outcome::Win(Color::White) => 2,
        }] += 1;
        if let Some(result) = playout.result {
            *endings.entry(result.ending).or_insert(0u64) += 1;
        }
    });
    let seconds = began.elapsed().as_secs_f64();

    let share = |n: u64| 100.0 * n as f64 / games as f64;
    println!(
        "{games} games of {variant} under {rules}, {:.1} plies each",
        plies as f64 / games as f64
    );
    println!(
        "first player {:.1} %, draws {:.1} %, second player {:.1} %",
        share(outcomes[0]),
        share(outcomes[1]),
        share(outcomes[2])
    );
    for (ending, n) in endings {
        println!("{:5.1} % end by {ending}", share(n));
    }
    println!("{:.1} million plies/s", plies as f64 / seconds / 1e6);
    Ok(())
}
