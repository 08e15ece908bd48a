//! The rows of the two tables.

use std::fmt::Write as _;

use surakarta_game::{Move, Outcome, Position};
use surakarta_net::policy_index;
use surakarta_record::{GameRecord, PlyRecord, ShardHeader, margin_of};
use surakarta_selfplay::{Conduct, Manner};

use super::circuit::circuit_of;
use super::column::{Column, Kind, Row, Share, Value, column};
use crate::part::Part;

/// A row of the table of games.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GameRow {
    pub(crate) game_id: u64,
    pub(crate) split: Part,
    pub(crate) seed: u64,
    pub(crate) iteration: u64,
    pub(crate) game: u64,
    pub(crate) variant: String,
    pub(crate) rules: String,
    pub(crate) player: String,
    pub(crate) weights: String,
    pub(crate) start: String,
    pub(crate) moves: String,
    pub(crate) ending: &'static str,
    pub(crate) outcome: &'static str,
    pub(crate) plies: u32,
    pub(crate) black_pieces: u32,
    pub(crate) white_pieces: u32,
}

impl Row for GameRow {
    const COLUMNS: &'static [Column] = &[
        column(
            "game_id",
            Kind::Count64,
            "its number in this export, 0 the first: the key that joins the tables",
        ),
        column(
            "split",
            Kind::Text,
            "`train`, `validation` or `test`, drawn by start and moves of the game alone",
        ),
        column("seed", Kind::Count64, "seed of the run that played it"),
        column("iteration", Kind::Count64, "iteration of the run, 0 the first"),
        column("game", Kind::Count64, "its number in the iteration"),
        column("variant", Kind::Text, "`standard`, `rural`, `sepur` or `sepur,diagonals=no`"),
        column(
            "rules",
            Kind::Text,
            "the rule set with changed limits, as `olympiad,no-capture=60`",
        ),
        column("player", Kind::Text, "who played both sides, as one string names players"),
        column("weights", Kind::Text, "hash of the player's weights file; empty without one"),
        column("start", Kind::Text, "the first position"),
        column("moves", Kind::Text, "the moves from there, start and target each, blanks between"),
        column(
            "ending",
            Kind::Text,
            "why it ended: `captured-all`, `repetition`, `no-progress`, …",
        ),
        column("outcome", Kind::Text, "`black` (the first player) or `white` has won, or `draw`"),
        column("plies", Kind::Count, "number of moves"),
        column("black_pieces", Kind::Count, "pieces that Black has left"),
        column("white_pieces", Kind::Count, "pieces that White has left"),
    ];

    fn values<'a>(&'a self, visit: &mut dyn FnMut(Value<'a>)) {
        visit(Value::Count64(self.game_id));
        visit(Value::Text(self.split.name()));
        visit(Value::Count64(self.seed));
        visit(Value::Count64(self.iteration));
        visit(Value::Count64(self.game));
        visit(Value::Text(&self.variant));
        visit(Value::Text(&self.rules));
        visit(Value::Text(&self.player));
        visit(Value::Text(&self.weights));
        visit(Value::Text(&self.start));
        visit(Value::Text(&self.moves));
        visit(Value::Text(self.ending));
        visit(Value::Text(self.outcome));
        visit(Value::Count(self.plies));
        visit(Value::Count(self.black_pieces));
        visit(Value::Count(self.white_pieces));
    }
}

/// A row of the table of positions: one for each ply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PositionRow {
    pub(crate) game_id: u64,
    pub(crate) split: Part,
    pub(crate) seed: u64,
    pub(crate) iteration: u64,
    pub(crate) game: u64,
    pub(crate) ply: u32,
    pub(crate) position: String,
    pub(crate) side: &'static str,
    pub(crate) mv: String,
    pub(crate) move_index: u32,
    pub(crate) circuit: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) sims: u32,
    pub(crate) asked: u32,
    pub(crate) temperature: Option<f32>,
    pub(crate) noise: bool,
    pub(crate) value: Option<f32>,
    pub(crate) outcome: i8,
    pub(crate) margin: f32,
    pub(crate) policy: Vec<Share>,
}

impl Row for PositionRow {
    const COLUMNS: &'static [Column] = &[
        column("game_id", Kind::Count64, "the game's number in this export"),
        column("split", Kind::Text, "that of the game"),
        column("seed", Kind::Count64, "seed of the run"),
        column("iteration", Kind::Count64, "iteration of the run"),
        column("game", Kind::Count64, "the game's number in the iteration"),
        column("ply", Kind::Count, "plies of the game before it, 0 for the first position"),
        column("position", Kind::Text, "the position before the move, on one line"),
        column("side", Kind::Text, "the side to move, `black` or `white`"),
        column("move", Kind::Text, "the move that was played, start and target, as on the board"),
        column("move_index", Kind::Count, "its index, as the side to move sees it"),
        column(
            "circuit",
            Kind::Text,
            "what a capture ran along: `inner`, `outer`, or `both` where either leads there; `none` without a capture",
        ),
        column(
            "kind",
            Kind::Text,
            "how it was chosen: `opening` (without a search), `fast` (short search) or `full`",
        ),
        column("sims", Kind::Count, "visits of the search's root; 0 without a tree"),
        column(
            "asked",
            Kind::Count,
            "simulations that the search was asked for, of which `sims` may have more by a tree inherited; 0 without a search, or where the shard does not say",
        ),
        column(
            "temperature",
            Kind::MaybeReal,
            "the temperature at which the move was drawn, 0 for the best one: from the search's visits or improved policy, or for `opening` from the network's policy; null where it was given or drawn uniformly, by Gumbel noise, or where the shard does not say",
        ),
        column("noise", Kind::Count, "1 if there was noise at the search's root, else 0"),
        column("value", Kind::MaybeReal, "the search's value in [−1, 1], seen by the side to move"),
        column(
            "outcome",
            Kind::Sign,
            "the game's result, seen by the side to move: 1 won, 0 drawn, −1 lost",
        ),
        column(
            "margin",
            Kind::Real,
            "pieces at the end of the game, own − enemy, as a part of all that a side starts with",
        ),
        column(
            "policy",
            Kind::Policy,
            "the search's share of each move, which sum to 1, moves without any left out; empty where none was kept",
        ),
    ];

    fn values<'a>(&'a self, visit: &mut dyn FnMut(Value<'a>)) {
        visit(Value::Count64(self.game_id));
        visit(Value::Text(self.split.name()));
        visit(Value::Count64(self.seed));
        visit(Value::Count64(self.iteration));
        visit(Value::Count64(self.game));
        visit(Value::Count(self.ply));
        visit(Value::Text(&self.position));
        visit(Value::Text(self.side));
        visit(Value::Text(&self.mv));
        visit(Value::Count(self.move_index));
        visit(Value::Text(self.circuit));
        visit(Value::Text(self.kind));
        visit(Value::Count(self.sims));
        visit(Value::Count(self.asked));
        visit(Value::MaybeReal(self.temperature));
        visit(Value::Count(u32::from(self.noise)));
        visit(Value::MaybeReal(self.value));
        visit(Value::Sign(self.outcome));
        visit(Value::Real(self.margin));
        visit(Value::Policy(&self.policy));
    }
}

/// What the rows of a game share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) header: &'a ShardHeader,
    /// How they were searched, if that is known.
    pub(crate) manner: Option<&'a Manner>,
    pub(crate) game_id: u64,
    /// What the game was called when it was played.
    pub(crate) number: u64,
    pub(crate) split: Part,
}

impl GameRow {
    pub(crate) fn of(named: Named<'_>, game: &GameRecord) -> GameRow {
        let (header, last) = (named.header, game.last_position());
        let mut moves = String::with_capacity(5 * game.plies.len());
        for ply in &game.plies {
            let blank = if moves.is_empty() { "" } else { " " };
            write!(moves, "{blank}{}", ply.mv).expect("strings grow");
        }
        GameRow {
            game_id: named.game_id,
            split: named.split,
            seed: header.seed,
            iteration: header.iteration,
            game: named.number,
            variant: header.variant.to_string(),
            rules: header.rules.to_string(),
            player: header.player.clone(),
            weights: header.weights.clone().unwrap_or_default(),
            start: game.start.to_string(),
            moves,
            ending: game.result.ending.name(),
            outcome: outcome_name(game.result.outcome),
            plies: game.plies.len() as u32,
            black_pieces: last.count(surakarta_game::Color::Black),
            white_pieces: last.count(surakarta_game::Color::White),
        }
    }
}

/// `black`, `white` or `draw`.
pub(crate) fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(color) => color.name(),
        Outcome::Draw => "draw",
    }
}

impl PositionRow {
    /// The rows of a game.
    pub(crate) fn of<'a>(
        named: Named<'a>,
        game: &'a GameRecord,
    ) -> impl Iterator<Item = PositionRow> + 'a {
        let last = game.last_position();
        let conduct = named.manner.map(|manner| manner.conduct(named.number, game));
        let row = move |(number, (position, ply)): (usize, (Position, &PlyRecord))| {
            let conduct = conduct.as_ref().map_or(Conduct::default(), |conduct| conduct[number]);
            let mover = position.side_to_move();
            let index = |mv: Move| policy_index(position.variant(), mv, mover).unwrap_or_default();
            PositionRow {
                game_id: named.game_id,
                split: named.split,
                seed: named.header.seed,
                iteration: named.header.iteration,
                game: named.number,
                ply: number as u32,
                position: position.to_string(),
                side: mover.name(),
                mv: ply.mv.to_string(),
                move_index: index(ply.mv) as u32,
                circuit: circuit_of(&position, ply.mv),
                kind: ply.search.name(),
                sims: ply.simulations,
                asked: conduct.simulations,
                temperature: conduct.temperature,
                noise: conduct.noise,
                value: ply.value,
                outcome: game.result.outcome.value_for(mover),
                margin: margin_of(&last, mover),
                policy: ply
                    .policy
                    .shares()
                    .into_iter()
                    .map(|(mv, share)| (mv, index(mv) as u16, share))
                    .collect(),
            }
        };
        game.positions().zip(&game.plies).enumerate().map(row)
    }
}
