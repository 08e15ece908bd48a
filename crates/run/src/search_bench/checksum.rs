//! One number for what each method of search decides, so that nobody changes it unawares.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;
use surakarta_game::Variant;
use surakarta_net::{Network, Shape, Weights};
use surakarta_search::{
    AlphaBetaConfig, AlphaBetaPlayer, Choice, DescentConfig, DescentPlayer, Limits, MctsConfig,
    MctsPlayer, Method, Player, RolloutConfig, RolloutPlayer, SearchConfig, Work,
};
use xxhash_rust::xxh3::xxh3_64;

use super::positions::Phase;

/// What a method of search decides, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checksum {
    /// The method.
    pub method: &'static str,
    /// A hash of its choices in fixed positions with fixed seeds and limits, 16 hexadecimal digits:
    /// moves, values to the bit, lines and the work that they took.
    pub checksum: String,
}

/// The checksums of all methods. Networks are random, from a seed. They are the same on every machine
/// whose mathematical library rounds exponentials and logarithms the same way.
///
/// # Errors
/// None, as long as these networks say numbers.
pub fn checksums() -> Result<Vec<Checksum>> {
    let weights = Weights::random(Shape::mlp(&[32, 16])?, Variant::Standard, 1);
    let network = Network::new(&weights);
    let mcts = |method| {
        let search = SearchConfig { method, ..MctsConfig::default().search };
        let config = MctsConfig { search, noise: true, ..MctsConfig::default() };
        Box::new(MctsPlayer::new(config, network.evaluator()))
    };
    let alphabeta = Box::new(AlphaBetaPlayer::new(AlphaBetaConfig::default()));
    let rollout = Box::new(RolloutPlayer::new(RolloutConfig::default()));
    let descent = Box::new(DescentPlayer::new(DescentConfig::default(), network.evaluator()));
    let methods: [(_, Box<dyn Player>, _); 5] = [
        ("alphabeta", alphabeta, Limits { nodes: Some(20_000), ..Limits::default() }),
        ("rollout", rollout, simulations(200)),
        ("mcts puct", mcts(Method::Puct), simulations(400)),
        ("mcts gumbel", mcts(Method::Gumbel), simulations(200)),
        ("descent", descent, simulations(400)),
    ];
    let checksum = |(method, mut player, limits): (_, Box<dyn Player>, _)| {
        let checksum = format!("{:016x}", xxh3_64(decisions(&mut *player, &limits)?.as_bytes()));
        Ok(Checksum { method, checksum })
    };
    methods.into_iter().map(checksum).collect()
}

fn simulations(count: u32) -> Limits {
    Limits { simulations: Some(count), ..Limits::default() }
}

/// What a player chooses in each position and two plies later, a line for each choice.
fn decisions(player: &mut dyn Player, limits: &Limits) -> Result<String> {
    let mut text = String::new();
    for (number, mut game) in Phase::ALL.into_iter().flat_map(Phase::games).enumerate() {
        player.new_game(number as u64);
        // What the first choice has left behind has its part in the second.
        for _ in 0..2 {
            let Choice { mv, value, line, work } = player.choose(&game, limits)?;
            let Work { simulations, nodes, evaluations, depth } = work;
            let value = value.map(f32::to_bits);
            write!(text, "{mv} {value:?} {simulations} {nodes} {evaluations} {depth}")?;
            for mv in &line {
                write!(text, " {mv}")?;
            }
            text.push('\n');
            line.iter().take(2).try_for_each(|&mv| game.play(mv))?;
            if game.result().is_some() {
                break;
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each method decides. Whoever means to change it writes the new numbers here; everybody else
    /// has broken something.
    const DECIDED: [(&str, &str); 5] = [
        ("alphabeta", "45a8c1d24168bb85"),
        ("rollout", "5031bd7bfc2caced"),
        ("mcts puct", "b07a9b1797b22af9"),
        ("mcts gumbel", "58bd3f8bf7b581b2"),
        ("descent", "9c942d50adbedbd5"),
    ];

    #[test]
    fn searches_decide_as_they_did() {
        let now = checksums().unwrap();
        let now: Vec<(&str, &str)> =
            now.iter().map(|one| (one.method, one.checksum.as_str())).collect();
        assert_eq!(
            now,
            DECIDED,
            "a search decides otherwise than before; if it is meant to, put the new numbers (left) into DECIDED in {}",
            file!()
        );
    }
}
