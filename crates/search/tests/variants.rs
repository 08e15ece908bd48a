//! Every player plays every variant.

use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use surakarta_game::{Color, Ending, Game, OLYMPIAD, Outcome, Position, Variant};
use surakarta_net::{Evaluator, Mlp, Shape, Weights};
use surakarta_search::{
    EngineSpec, Limits, NetRef, Player, PlayerError, PlayerSpec, Supply, stream,
};
use surakarta_tablebase::Tables;

/// A player; one with a network gets a random one of this variant.
fn player(spec: &str, network: Variant) -> Box<dyn Player> {
    let spec: PlayerSpec = spec.parse().unwrap();
    spec.build(&mut RandomNetwork(network)).unwrap()
}

struct RandomNetwork(Variant);

impl Supply for RandomNetwork {
    type Error = std::convert::Infallible;

    fn network(&mut self, _: &NetRef, _: usize) -> Result<Box<dyn Evaluator>, Self::Error> {
        let weights = Weights::random(Shape::mlp(&[32, 16]).unwrap(), self.0, 7);
        Ok(Box::new(Mlp::new(&weights)))
    }

    fn tables(&mut self, folder: &Path) -> Result<Arc<Tables>, Self::Error> {
        unreachable!("no tables are asked for: {}", folder.display())
    }

    fn engine(&mut self, spec: &EngineSpec) -> Result<Box<dyn Player>, Self::Error> {
        unreachable!("no program plays here: {}", spec.cmd)
    }
}

/// The game between these players after an opening of some random moves.
fn play(variant: Variant, players: &mut [Box<dyn Player>; 2], seed: u64) -> Game {
    let rng = &mut stream(seed, [1, 0, 0]);
    let mut game = Game::from_position(OLYMPIAD, Position::start(variant));
    for _ in 0..rng.random_range(4..=8) {
        let moves = game.legal_moves();
        game.play_legal(moves[rng.random_range(0..moves.len())]);
    }
    players.iter_mut().for_each(|player| player.new_game(seed));
    while game.result().is_none() {
        let turn = (game.side_to_move() == Color::White) as usize;
        let choice = players[turn].choose(&game, &Limits::default()).unwrap();
        game.play(choice.mv).unwrap();
        let mut line = game.clone();
        for &mv in choice.line.iter().skip(1) {
            line.play(mv).unwrap();
        }
    }
    game
}

const SPECS: [&str; 6] = [
    "random",
    "greedy",
    "rollout:sims=20",
    "alphabeta:nodes=300",
    "mcts:net=latest,sims=30",
    "descent:net=latest,sims=8",
];

#[test]
fn all_players_play_whole_games_of_every_variant() {
    for variant in Variant::ALL {
        let mut captured = 0;
        for (n, first) in SPECS.into_iter().enumerate() {
            for second in SPECS {
                let mut players = [first, second].map(|spec| player(spec, variant));
                let game = play(variant, &mut players, n as u64);
                assert!(game.positions().iter().all(|p| p.variant() == variant));
                captured += game.positions().iter().filter(|p| p.quiet_plies() == 0).count();
            }
        }
        assert!(captured > 100, "{captured} captures in {variant}");
    }
}

#[test]
fn a_network_of_another_variant_refuses_to_play() {
    for network in Variant::ALL {
        for played in Variant::ALL {
            let mut mcts = player("mcts:net=latest,sims=30", network);
            let game = Game::from_position(OLYMPIAD, Position::start(played));
            match mcts.choose(&game, &Limits::default()) {
                Ok(_) => assert_eq!(network, played),
                Err(error) => {
                    assert_ne!(network, played);
                    assert!(matches!(error, PlayerError::Evaluator(_)));
                    let error = error.to_string();
                    assert!(error.contains(network.name()) && error.contains(played.name()));
                }
            }
        }
    }
}

/// The evaluation was fitted to the standard variant; it must make sense in the others, too.
#[test]
fn alphabeta_beats_greedy_in_every_variant() {
    for variant in Variant::ALL {
        let (mut points, mut eliminations) = (0.0, 0);
        for pair in 0..6 {
            for color in [Color::Black, Color::White] {
                let mut players = ["alphabeta:nodes=2000", "greedy"].map(|s| player(s, variant));
                if color == Color::White {
                    players.reverse();
                }
                let result = play(variant, &mut players, pair).result().unwrap();
                eliminations += (result.ending == Ending::CapturedAll) as u32;
                points += match result.outcome {
                    Outcome::Win(winner) => (winner == color) as u8 as f64,
                    Outcome::Draw => 0.5,
                };
            }
        }
        assert!(points >= 11.0, "{points} of 12 in {variant}");
        assert!(eliminations > 0, "nothing was ever captured whole in {variant}");
    }
}
