//! Plays one game of random moves and shows it: `cargo run --example random_game -- 1 threefold`
//! (a seed, a rule set).

use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use surakarta_game::{Game, RuleSet};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seed = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let rules: RuleSet = arguments.next().map_or(Ok(RuleSet::default()), |text| text.parse())?;

    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut game = Game::new(rules);
    while let Some(&mv) = game.legal_moves().choose(&mut rng) {
        let takes = if game.position().is_capture(mv) { "takes" } else { "steps" };
        println!("{:3} {} {takes} {mv}", game.moves().len() + 1, game.side_to_move());
        game.play(mv)?;
    }
    println!("{}", game.position());
    if let Some(result) = game.result() {
        println!("{} after {} plies: {:?}", result.ending, game.moves().len(), result.outcome);
    }
    Ok(())
}
