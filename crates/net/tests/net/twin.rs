//! The slow, obvious counterpart of inputs and inference, and positions to compare them on. Tests
//! and benches share it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use surakarta_game::{Color, Game, Move, OLYMPIAD, Point, Position, Symmetry, Variant};
use surakarta_net::{InputGroup, Shape, Trunk, Weights, inputs};

/// The positions of random games of a variant that have a legal move, at least `count` of them.
pub(crate) fn random_positions(variant: Variant, count: usize, seed: u64) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut game = Game::from_position(OLYMPIAD, Position::start(variant));
        while game.result().is_none() {
            positions.push(*game.position());
            let moves = game.position().moves();
            let mv = moves[rng.next_u32() as usize % moves.len()];
            game.play(mv).expect("a legal move");
        }
    }
    positions
}

/// All inputs, written from the table in the documentation.
pub(crate) fn dense_inputs(position: &Position) -> Vec<f64> {
    dense_inputs_without(position, &[])
}

/// The same as a network sees them that is blind to some.
pub(crate) fn dense_inputs_without(position: &Position, without: &[InputGroup]) -> Vec<f64> {
    let sees = |group| !without.contains(&group);
    let size = position.variant().size();
    let (points, pieces) = (size * size, 2 * size);
    let me = position.side_to_move();
    let attacks = position.attacks();
    let mut inputs = vec![0.0; inputs(position.variant())];
    for (file, rank) in (0..size).flat_map(|file| (0..size).map(move |rank| (file, rank))) {
        let point = Point::at(file, rank).expect("on the board");
        let rank_seen = if me == Color::Black { rank } else { size - 1 - rank };
        let seen = size * rank_seen + file;
        let attacked =
            |color: Color| sees(InputGroup::Attacks) && attacks[color as usize] & point.bit() != 0;
        let attackers = match (attacked(me), attacked(me.other())) {
            (false, false) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (true, true) => 3,
        };
        let state = match position.color_at(point).filter(|_| sees(InputGroup::Pieces)) {
            Some(color) if color == me => attackers,
            Some(_) => 4 + attackers,
            None if attackers > 0 => 7 + attackers,
            None => continue,
        };
        inputs[points * state + seen] = 1.0;
    }
    for (group, color) in [me, me.other()].into_iter().enumerate() {
        let count = position.count(color) as usize;
        if count > 0 && sees(InputGroup::Counts) {
            inputs[11 * points + pieces * group + count - 1] = 1.0;
        }
    }
    if sees(InputGroup::Quiet) {
        inputs[11 * points + 2 * pieces + (position.quiet_plies() as usize / 3).min(15)] = 1.0;
    }
    inputs
}

/// What a network says of a position, in f64 and with every zero multiplied: the probabilities of
/// the moves, of win, draw and loss, and the margin.
pub(crate) fn dense_evaluation(
    weights: &Weights,
    position: &Position,
    moves: &[Move],
) -> (Vec<f64>, Vec<f64>, f64) {
    let linear = |layer: &str, x: &[f64]| -> Vec<f64> {
        let weight = weights.tensor(&format!("{layer}.weight")).expect("a weight");
        let bias = weights.tensor(&format!("{layer}.bias")).expect("a bias");
        let rows = weight.chunks_exact(x.len()).zip(bias);
        rows.map(|(row, bias)| {
            f64::from(*bias) + row.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum::<f64>()
        })
        .collect()
    };
    let softmax = |logits: Vec<f64>| -> Vec<f64> {
        let most = logits.iter().copied().fold(f64::MIN, f64::max);
        let sum: f64 = logits.iter().map(|x| (x - most).exp()).sum();
        logits.iter().map(|x| (x - most).exp() / sum).collect()
    };
    let Trunk::Mlp(shape) = weights.shape().trunk() else { panic!("an mlp") };
    let mut x = dense_inputs(position);
    for i in 0..shape.hidden().len() {
        let y = linear(&format!("hidden.{i}"), &x).into_iter().map(|x| x.max(0.0));
        x = match shape.adds(i) {
            true => y.zip(x).map(|(y, x)| x + y).collect(),
            false => y.collect(),
        };
    }
    let all = linear("policy", &x);
    let logits = moves.iter().map(|&mv| all[policy_place(position, mv)]);
    (softmax(logits.collect()), softmax(linear("wdl", &x)), linear("margin", &x)[0])
}

/// Where a policy keeps a move, found by search.
pub(crate) fn policy_place(position: &Position, mv: Move) -> usize {
    let (variant, side) = (position.variant(), position.side_to_move());
    let flipped = mv.under(variant, Symmetry::FLIP_RANKS);
    let seen = if side == Color::White { flipped } else { mv };
    let place = |i: &usize| variant.move_at(*i) == Some(seen);
    (0..variant.moves()).find(place).expect("a move of the geometry")
}

/// Weights for a variant with every number away from zero, biases and heads too, so that each counts in a
/// comparison.
pub(crate) fn lively_weights(variant: Variant, hidden: &[usize], seed: u64) -> Weights {
    lively(Shape::mlp(hidden).expect("a shape"), variant, seed)
}

/// The same for any shape.
pub(crate) fn lively(shape: Shape, variant: Variant, seed: u64) -> Weights {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let tensors = shape.tensors(variant).into_iter().map(|spec| {
        let inputs = spec.dims[1..].iter().product::<usize>();
        let bound = (6.0 / if spec.dims.len() > 1 { inputs as f32 } else { 64.0 }).sqrt();
        let mut number = || bound * (rng.next_u32() as f32 / (1u64 << 31) as f32 - 1.0);
        let data = (0..spec.len()).map(|_| number()).collect();
        (spec.name, spec.dims, data)
    });
    let tensors: Vec<_> = tensors.collect();
    Weights::from_tensors(shape, variant, "lively", tensors).expect("weights")
}
