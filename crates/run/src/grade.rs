//! How often a network is right about endgames whose truth is known.

use std::fmt;

use anyhow::Result;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use surakarta_game::{Position, Variant};
use surakarta_net::{Batch, Evaluator};
use surakarta_tablebase::{Index, Tables, Value};

/// Positions that are evaluated together.
const BATCH: usize = 256;

/// What a network says of a class of endgames, against the truth. Shares are of the positions that are meant, 0 if
/// there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grade {
    /// Pieces of the side to move and of the other, or `all`.
    pub class: String,
    /// Positions drawn from the class, those without a move left out.
    pub positions: u64,
    /// How many of them are won or lost.
    pub decided: u64,
    /// Of these: the share whose value has the right sign.
    pub sign: f64,
    /// The share of all whose most probable result is the true one.
    pub result: f64,
    /// In how many positions some moves do not keep the result.
    pub choices: u64,
    /// Of these: the share in which the policy's best move keeps it.
    pub r#move: f64,
}

/// [`Grade`]s by class, and over all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grades {
    /// Each class of the tables, those of fewer pieces first.
    pub classes: Vec<Grade>,
    /// Over all positions that were drawn: as many from each class.
    pub all: Grade,
}

/// Lets a network judge positions just after a capture, drawn evenly from each class of the tables, so
/// many from each: most are nothing like those of games between good players.
///
/// # Errors
/// If the network fails.
pub fn grade(
    evaluator: &mut dyn Evaluator,
    tables: &Tables,
    variant: Variant,
    positions: usize,
    seed: u64,
) -> Result<Grades> {
    let mut all = Counts::default();
    let mut classes = Vec::new();
    for class in tables.classes(variant) {
        let mut counts = Counts::default();
        let Some(index) = tables.index(variant, class) else { continue };
        for some in drawn(index, positions, seed).chunks(BATCH) {
            let mut batch = Batch::default();
            for position in some {
                batch.push(*position, &position.moves());
            }
            evaluator.evaluate(&mut batch)?;
            for at in 0..some.len() {
                counts.add(&batch, at, tables);
            }
        }
        all.merge(&counts);
        classes.push(counts.grade(class.to_string()));
    }
    Ok(Grades { classes, all: all.grade("all".to_owned()) })
}

/// Positions of a class with legal moves, drawn with replacement.
fn drawn(index: &Index, positions: usize, seed: u64) -> Vec<Position> {
    let class = index.class();
    let stream = u64::from(class.own) << 8 | u64::from(class.enemy);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ stream << 32);
    let positions = (0..positions).map(|_| index.position(random.random_range(0..index.len())));
    positions.filter(Position::has_move).collect()
}

#[derive(Default)]
struct Counts {
    positions: u64,
    decided: u64,
    sign: u64,
    result: u64,
    choices: u64,
    moves: u64,
}

impl Counts {
    fn add(&mut self, batch: &Batch, at: usize, tables: &Tables) {
        let position = batch.position(at);
        let Some(truth) = tables.probe(position) else { return };
        let outlook = batch.outlook(at);
        self.positions += 1;
        if truth.value != Value::Draw {
            self.decided += 1;
            self.sign += u64::from(outlook.value() * f32::from(truth.value.sign()) > 0.0);
        }
        let [win, draw, loss] = outlook.wdl;
        let results = [(Value::Loss, loss), (Value::Draw, draw), (Value::Win, win)];
        let said = results.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        self.result += u64::from(said.is_some_and(|(value, _)| value == truth.value));
        let moves = tables.moves(position);
        let keeps = |value| value == truth.value;
        let policy = batch.policy(at);
        let best = batch.moves(at).iter().zip(policy).max_by(|a, b| a.1.total_cmp(b.1));
        let played = best.and_then(|(mv, _)| moves.iter().find(|(known, _)| known == mv));
        if moves.iter().any(|(_, entry)| !keeps(entry.value)) {
            self.choices += 1;
            self.moves += u64::from(played.is_some_and(|(_, entry)| keeps(entry.value)));
        }
    }

    fn merge(&mut self, other: &Counts) {
        self.positions += other.positions;
        self.decided += other.decided;
        self.sign += other.sign;
        self.result += other.result;
        self.choices += other.choices;
        self.moves += other.moves;
    }

    fn grade(&self, class: String) -> Grade {
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        Grade {
            class,
            positions: self.positions,
            decided: self.decided,
            sign: share(self.sign, self.decided),
            result: share(self.result, self.positions),
            choices: self.choices,
            r#move: share(self.moves, self.choices),
        }
    }
}

impl fmt::Display for Grades {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "class  positions  won or lost  sign right  result right  choices  move right"
        )?;
        for grade in self.classes.iter().chain([&self.all]) {
            let percent = |share: f64, of: u64| match of {
                0 => "–".to_owned(),
                _ => format!("{:.2} %", 100.0 * share),
            };
            writeln!(
                f,
                "{:<5}{:>11}{:>13}{:>12}{:>14}{:>9}{:>12}",
                grade.class,
                grade.positions,
                grade.decided,
                percent(grade.sign, grade.decided),
                percent(grade.result, grade.positions),
                grade.choices,
                percent(grade.r#move, grade.choices)
            )?;
        }
        Ok(())
    }
}
