//! The player around a search, and what can be read off its tree.

use std::time::Instant;

use rand::RngExt;
use surakarta_game::{Game, Move, Position};
use surakarta_net::Evaluator;

use super::search::{Bounds, Search};
use super::tree::{ROOT, Worth};
use super::{DescentConfig, Method};
use crate::player::{Choice, Limits, Player, PlayerError};
use crate::random::Stream;
use crate::simple::stream_at;

/// Unbounded best-first minimax or Descent with a network; see the [module](super). The tree is kept
/// from move to move.
pub struct DescentPlayer {
    config: DescentConfig,
    search: Search,
    evaluator: Box<dyn Evaluator>,
    seed: u64,
}

/// What a search found out about one move of the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveValue {
    /// The move.
    pub mv: Move,
    /// Iterations that began with it, inherited ones included.
    pub visits: u32,
    /// Its value in [−1, 1], seen by the side to move at the root.
    pub value: f32,
    /// The result under best play of both if it is proven: 1, 0 or −1, seen by the side to move at the
    /// root.
    pub proven: Option<i8>,
}

/// A state that a search has opened, and what it found out about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateValue {
    /// The position. The value may owe something to the positions before it, too.
    pub position: Position,
    /// Plies below the root.
    pub depth: u32,
    /// Iterations that came through it.
    pub visits: u32,
    /// Its value in [−1, 1], backed up from the leaves below and seen by the side to move.
    pub value: f32,
    /// The result under best play of both if it is proven: 1, 0 or −1, seen by the side to move.
    pub proven: Option<i8>,
}

impl Worth {
    fn proven(&self) -> Option<i8> {
        self.resolved.then_some(self.completion)
    }
}

impl DescentPlayer {
    /// A player with its network.
    pub fn new(config: DescentConfig, evaluator: Box<dyn Evaluator>) -> DescentPlayer {
        let search = Search::new(&config);
        DescentPlayer { config, search, evaluator, seed: 0 }
    }

    /// The moves of the last choice, in the order of the legal moves.
    pub fn moves(&self) -> impl Iterator<Item = MoveValue> + '_ {
        let tree = &self.search.tree;
        tree.root().into_iter().flat_map(|_| tree.edges(ROOT)).map(|edge| MoveValue {
            mv: edge.mv,
            visits: edge.visits,
            value: edge.worth.value,
            proven: edge.worth.proven(),
        })
    }

    /// The states of the tree of the last choice: each before those below it, its moves in their order.
    ///
    /// Values for a network to learn. Finished games are not among them, for no search asks a network
    /// about those, nor states of which the search knows nothing but what the network has said. The
    /// next choice keeps what is below its own root, and goes on from there.
    pub fn states(&self) -> impl Iterator<Item = StateValue> + '_ {
        let tree = &self.search.tree;
        let root = tree.root().map(|_| (ROOT, *self.search.game.position(), 0));
        let mut open: Vec<_> = root.into_iter().collect();
        std::iter::from_fn(move || {
            let (at, position, depth) = open.pop()?;
            for edge in tree.edges(at).iter().rev() {
                if let Some(child) = edge.child {
                    open.push((child.get(), position.after(edge.mv), depth + 1));
                }
            }
            let node = tree.node(at);
            let (value, proven) = (node.worth.value, node.worth.proven());
            Some(StateValue { position, depth, visits: node.visits, value, proven })
        })
    }

    /// What ends a choice.
    fn bounds(&self, asked: &Limits, started: Instant) -> Bounds {
        let applies =
            |l: &&Limits| l.simulations.is_some() || l.nodes.is_some() || l.time.is_some();
        let usual = DescentConfig::default().limits;
        let limits = [asked, &self.config.limits].into_iter().find(applies).unwrap_or(&usual);
        Bounds {
            simulations: limits.simulations.unwrap_or(u32::MAX),
            nodes: limits.nodes.unwrap_or(u64::MAX),
            deadline: limits.time.and_then(|time| started.checked_add(time)),
        }
    }

    /// The place of the move to play among those of the root.
    fn decide(&self, rng: &mut Stream) -> usize {
        let tree = &self.search.tree;
        let chosen = match self.config.method {
            Method::Ubfm => tree.safest(ROOT),
            Method::Descent => tree.best(ROOT),
        };
        let exploration = self.config.exploration as f64;
        if exploration <= 0.0 {
            return chosen;
        }
        let mut ranked = tree.ranked(ROOT);
        ranked.retain(|&n| n != chosen);
        ranked.insert(0, chosen);
        let played = |&j: &usize| {
            let left = (ranked.len() - j) as f64;
            rng.random::<f64>() < 1.0 - exploration + exploration / left
        };
        (0..ranked.len()).find(played).map_or(chosen, |j| ranked[j])
    }

    /// The move at a place of the root, and the best ones after it as far as the tree reaches.
    fn line(&self, first: usize) -> Vec<Move> {
        let tree = &self.search.tree;
        let first = &tree.edges(ROOT)[first];
        let next = |child: u32| &tree.edges(child)[tree.best(child)];
        let edges = std::iter::successors(Some(first), |edge| Some(next(edge.child?.get())));
        edges.map(|edge| edge.mv).collect()
    }
}

impl Player for DescentPlayer {
    fn new_game(&mut self, seed: u64) {
        self.search.tree.clear();
        self.seed = seed;
    }

    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError> {
        let started = Instant::now();
        if game.result().is_some() {
            return Err(PlayerError::GameOver);
        }
        let bounds = self.bounds(&limits.for_move_of(game.side_to_move()), started);
        self.search.run(game, &bounds, &mut *self.evaluator)?;
        let chosen = self.decide(&mut stream_at(self.seed, game));
        let edge = self.search.tree.edges(ROOT)[chosen];
        Ok(Choice {
            mv: edge.mv,
            value: Some(edge.worth.value),
            line: self.line(chosen),
            work: self.search.work,
        })
    }
}
