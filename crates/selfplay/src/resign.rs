//! Giving up games that are lost, and how often that is wrong.

use serde::{Deserialize, Serialize};
use surakarta_game::{Color, Ending, Outcome};
use surakarta_record::{GameRecord, PlyRecord, SearchKind, dequantise, quantise};

/// When a side gives a game up, and what comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Resign {
    /// A side finds its position lost where its search's value is this or less.
    pub below: f64,
    /// It gives up when it has found that in so many moves of its own, one after another.
    pub plies: u32,
    /// The game goes on, with fast searches alone and no policy recorded, instead of ending.
    pub soft: bool,
    /// Share of games that go on all the same as if nobody had given up.
    pub played_on: f64,
}

impl Default for Resign {
    fn default() -> Self {
        Resign { below: -0.95, plies: 3, soft: false, played_on: 0.1 }
    }
}

/// A side that has given a game up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// The ply after which it did.
    pub ply: usize,
    /// Which side.
    pub side: Color,
    /// Whether it would have been wrong to: the game went on, and the side did not lose it. `None`
    /// where the game ended there.
    pub wrong: Option<bool>,
}

impl Resign {
    pub(crate) fn validate(&self) -> Result<(), String> {
        if !(-1.0..0.0).contains(&self.below) {
            let below = self.below;
            return Err(format!("resign: below is {below}; it must be -1 or more and less than 0"));
        }
        if self.plies == 0 {
            return Err("resign: plies is 0; it must be 1 or more".to_owned());
        }
        if !(0.0..=1.0).contains(&self.played_on) {
            let share = self.played_on;
            return Err(format!("resign: played_on is {share}; it must lie between 0 and 1"));
        }
        Ok(())
    }

    /// Who was the first to give the game up under this rule: a function of the record alone, for values
    /// are compared as shards keep them. `None` if nobody did, or the game was over with that ply anyway.
    pub fn judge(&self, game: &GameRecord) -> Option<GivenUp> {
        let mut doubts = Doubts::default();
        let mut plies = game.positions().zip(&game.plies).enumerate();
        let (ply, side) = plies.find_map(|(ply, (position, record))| {
            let side = position.side_to_move();
            doubts.grow(self, side, record).then_some((ply, side))
        })?;
        let ended_there = game.result.ending == Ending::Resignation;
        let last = ply + 1 == game.plies.len();
        let lost = game.result.outcome == Outcome::Win(side.other());
        match (ended_there, last) {
            (true, _) => Some(GivenUp { ply, side, wrong: None }),
            (false, true) => None,
            (false, false) => Some(GivenUp { ply, side, wrong: Some(!lost) }),
        }
    }
}

/// How many times in a row each side has found its position lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Doubts([u32; 2]);

impl Doubts {
    /// Takes in a ply of a side; true where that side gives up.
    pub(crate) fn grow(&mut self, rule: &Resign, side: Color, ply: &PlyRecord) -> bool {
        let kept = |value: f32| f64::from(dequantise(quantise(value)));
        let lost = ply.search != SearchKind::Opening
            && ply.value.is_some_and(|value| kept(value) <= rule.below);
        let doubts = &mut self.0[side as usize];
        *doubts = if lost { *doubts + 1 } else { 0 };
        *doubts >= rule.plies
    }
}

/// How many games were given up, and how often that was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resignations {
    /// Games that a side gave up.
    pub given_up: u64,
    /// Those of them that were played to an end of their own all the same.
    pub played_on: u64,
    /// Those of these that the side did not lose.
    pub wrong: u64,
}

impl Resignations {
    /// Adds a game.
    pub fn add(&mut self, rule: &Resign, game: &GameRecord) {
        if let Some(GivenUp { wrong, .. }) = rule.judge(game) {
            self.given_up += 1;
            self.played_on += u64::from(wrong.is_some());
            self.wrong += u64::from(wrong == Some(true));
        }
    }

    /// Share of the games played on that the side did not lose: an estimate of how often giving up is
    /// wrong. `None` without such games.
    pub fn false_positives(&self) -> Option<f64> {
        (self.played_on > 0).then(|| self.wrong as f64 / self.played_on as f64)
    }
}

impl std::fmt::Display for Resignations {
    /// As `40 given up, 4 of them played on, 1 of these not lost (25 %)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Resignations { given_up, played_on, wrong } = self;
        write!(f, "{given_up} given up, {played_on} of them played on, {wrong} of these not lost")?;
        match self.false_positives() {
            Some(share) => write!(f, " ({:.0} %)", 100.0 * share),
            None => Ok(()),
        }
    }
}
