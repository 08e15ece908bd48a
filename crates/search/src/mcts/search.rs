//! The state machine: descents that stop where they need an evaluation.

use std::sync::Arc;

use surakarta_game::{Game, Move, OLYMPIAD};
use surakarta_net::Batch;
use surakarta_tablebase::{Entry, Tables};

use super::halving::Halving;
use super::solver::Proof;
use super::tree::{Edge, ROOT, Tree};
use super::{Method, SearchConfig};
use crate::Stream;
use crate::player::Work;

/// What one search of a position may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Visits of the root at which the search is done, inherited ones included. The first visit
    /// evaluates the root itself, so its moves have one visit fewer between them. A search that
    /// [solves](SearchConfig::solve) is done before if the root is proven, at once if it comes proven
    /// from an earlier search.
    pub simulations: u32,
    /// Whether to explore: PUCT mixes Dirichlet noise into the root's prior and forces visits of its
    /// moves, Gumbel draws the moves that it considers, and the one that it plays, by Gumbel noise.
    pub noise: bool,
}

/// What a search wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// The evaluation of the position that it has put into the batch at this place.
    Leaf(usize),
    /// Nothing: the budget is spent, the root is proven, or there is no move to search.
    Done,
}

/// Plies to the end of a game that tables know to be counted: about, and more than any forced line takes.
const COUNTED_PLIES: u16 = 200;

/// A tree that has been left is kept for its memory up to this size in bytes; more goes back to the system.
const KEPT: usize = 16 << 20;

/// A tree and the game that leads to its root; see the [module](super).
#[derive(Clone, Debug)]
pub struct Search {
    pub(super) config: SearchConfig,
    pub(super) tree: Tree,
    /// Endgames that are known.
    tables: Option<Arc<Tables>>,
    /// Where `tree` is copied when its root moves on.
    spare: Tree,
    /// At the root between descents, at the leaf while that waits for its evaluation.
    game: Game,
    /// The nodes and edges from the root to the leaf.
    path: Vec<(u32, usize)>,
    waiting: bool,
    pub(super) budget: u32,
    /// Visits of the root before which it need not be asked whether the search is decided.
    pub(super) undecided: u32,
    pub(super) halving: Halving,
    /// One for each of the root's moves, or empty.
    pub(super) noise: Vec<f32>,
    /// The factor k of forced visits; 0 where no noise is asked for.
    pub(super) forced: f32,
    /// The root's priors before temperature and noise; empty until the root is prepared.
    pub(super) policy: Vec<f32>,
    /// The legal moves of the root, and of each leaf in turn.
    moves: Vec<Move>,
    /// How many legal moves the root has.
    pub(super) root_moves: usize,
    work: Work,
}

impl Search {
    /// A search without a game.
    pub fn new(config: SearchConfig) -> Search {
        Search {
            config,
            tree: Tree::default(),
            tables: None,
            spare: Tree::default(),
            game: Game::new(OLYMPIAD),
            path: Vec::new(),
            waiting: false,
            budget: 0,
            undecided: 0,
            halving: Halving::default(),
            noise: Vec::new(),
            forced: 0.0,
            policy: Vec::new(),
            moves: Vec::new(),
            root_moves: 0,
            work: Work::default(),
        }
    }

    /// The same search with endgame tables. A position that they prove is a leaf like the end of a game;
    /// any other that they hold has their value instead of the network's, where the rules are such that
    /// they prove any.
    #[must_use]
    pub fn with_tables(self, tables: Arc<Tables>) -> Search {
        Search { tables: Some(tables), ..self }
    }

    /// How it searches.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// Forgets the tree. A new game must not begin with the tree of another.
    pub fn clear(&mut self) {
        self.abandon();
        self.tree.clear();
        self.policy.clear();
    }

    /// Turns to the present position of a game. If the tree knows the moves that led there from its
    /// root, what is below them is kept, otherwise nothing. Noise is drawn now, from `rng`, once for
    /// each legal move.
    pub fn begin(&mut self, game: &Game, root: Root, rng: &mut Stream) {
        self.abandon();
        if !self.follow(game) {
            self.clear();
            self.game.clone_from(game);
        }
        self.work = Work::default();
        self.game.legal_moves_into(&mut self.moves);
        self.root_moves = self.moves.len();
        self.budget = 0;
        self.undecided = 0;
        self.halving.reset();
        self.extend(root.simulations);
        let forces = root.noise && self.config.method == Method::Puct;
        self.forced = if forces { self.config.forced_playouts } else { 0.0 };
        self.draw_noise(root.noise, self.root_moves, rng);
        self.prepare_root();
    }

    /// Raises the budget of the present search; a lower one than before changes nothing.
    pub fn extend(&mut self, simulations: u32) {
        let forced = self.config.skip_forced && self.root_moves == 1;
        let simulations = if forced { simulations.min(1) } else { simulations };
        self.budget = self.budget.max(simulations);
        self.plan_halving();
    }

    /// Simulates until a position needs an evaluation, which it puts into the batch with its legal
    /// moves, or until the search is done. Finished games need none. A second step before
    /// [`accept`](Search::accept) asks for the same position again.
    pub fn step(&mut self, batch: &mut Batch) -> Step {
        while self.waiting || self.wants_more() {
            if self.waiting || self.descend() {
                self.waiting = true;
                self.game.legal_moves_into(&mut self.moves);
                return Step::Leaf(batch.push(*self.game.position(), &self.moves));
            }
        }
        Step::Done
    }

    /// Takes the evaluation of the position that the last step asked for, from its place in the
    /// batch: policy as probabilities, and outlook.
    ///
    /// # Panics
    /// If no evaluation is awaited.
    pub fn accept(&mut self, batch: &Batch, at: usize) {
        assert!(self.waiting, "an evaluation that no step asked for");
        debug_assert_eq!(batch.position(at), self.game.position());
        self.waiting = false;
        self.work.evaluations += 1;
        let outlook = batch.outlook(at);
        let value = self.blend(self.looked_up().unwrap_or(outlook.value()), outlook.margin);
        let leaf = self.tree.push(batch.moves(at), batch.policy(at), value);
        if leaf == ROOT {
            self.prepare_root();
        }
        self.add_leaf(leaf, value);
    }

    /// Visits of the root so far, inherited ones included.
    pub fn simulations(&self) -> u32 {
        self.tree.root().map_or(0, |root| root.visits)
    }

    /// What the search has done since [`begin`](Search::begin): inherited visits are not in it, and
    /// depth is the longest descent in plies.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Memory that the tree takes, in bytes. As much again may be set aside.
    pub fn bytes(&self) -> usize {
        self.tree.bytes()
    }

    fn wants_more(&mut self) -> bool {
        let proven = self.proof().is_some();
        self.root_moves > 0 && self.simulations() < self.budget && !proven && !self.is_decided()
    }

    /// One descent. True if it stops at a position without evaluation; `game` then stands there.
    fn descend(&mut self) -> bool {
        let Some(root) = self.tree.root() else { return true };
        let (mut at, visits) = (ROOT, root.visits);
        let reduction = self.config.root_fpu_reduction;
        let mut edge = match self.owed() {
            Some(edge) => edge,
            None => self.select(ROOT, visits, reduction),
        };
        loop {
            let Edge { mv, child, .. } = self.tree.edge(at, edge);
            self.path.push((at, edge));
            let Some(child) = child else {
                self.game.play_legal(mv);
                return !self.add_known();
            };
            // Its end, if it is one, is known.
            self.game.play_unjudged(mv);
            at = child;
            let node = self.tree.node(at);
            let (value, visits) = (node.value, node.visits);
            if node.ends() {
                self.back_up(at, value);
                return false;
            }
            edge = self.select(at, visits, self.config.fpu_reduction);
        }
    }

    /// Adds a leaf that needs no evaluation, if this is one: a finished game, or what tables prove.
    fn add_known(&mut self) -> bool {
        let position = self.game.position();
        let (proof, plies) = match self.game.result() {
            Some(result) => (Proof::of_value(result.outcome.value_for(position.side_to_move())), 0),
            None => {
                let tables = self.tables.as_ref();
                let Some(value) = tables.and_then(|t| t.prove(position, self.game.rules())) else {
                    return false;
                };
                let plies = tables.and_then(|t| t.probe(position)).and_then(|entry| entry.plies);
                (Proof::of_value(value.sign()), plies.map_or(COUNTED_PLIES, u16::from))
            }
        };
        let (own, enemy) = (position.own(), position.enemy());
        let margin = own.count_ones() as f32 - enemy.count_ones() as f32;
        let value = self.blend(proof.value(), margin / position.variant().pieces() as f32);
        let leaf = self.tree.push(&[], &[], value);
        if self.config.solve && self.config.method == Method::Puct {
            let node = self.tree.node_mut(leaf);
            (node.proof, node.plies) = (Some(proof), plies);
        }
        self.add_leaf(leaf, value);
        true
    }

    /// The value of the position at hand by the tables, which do not prove it: a forced capture that is
    /// further away is less sure to come.
    fn looked_up(&self) -> Option<f32> {
        let variant = self.game.position().variant();
        let tables = self.tables.as_ref()?;
        if !tables.holds_under(self.game.rules(), variant) {
            return None;
        }
        let Entry { value, plies } = tables.probe(self.game.position())?;
        Some(value.sign() as f32 * (1.0 - plies.unwrap_or(0) as f32 / 256.0))
    }

    /// The edge to follow from an evaluated node.
    #[inline]
    fn select(&mut self, at: u32, visits: u32, reduction: f32) -> usize {
        match self.config.method {
            Method::Puct => self.tree.select(at, self.config.exploration(visits), reduction),
            Method::Gumbel => self.halving.select(&self.config, &self.noise, &self.tree, at),
        }
    }

    fn blend(&self, value: f32, margin: f32) -> f32 {
        let weight = self.config.margin_weight;
        (value + weight * margin) / (1.0 + weight)
    }

    fn add_leaf(&mut self, leaf: u32, value: f32) {
        if let Some(&(at, edge)) = self.path.last() {
            self.tree.attach(at, edge, leaf);
        }
        self.back_up(leaf, value);
    }

    /// Adds a value to a leaf and everything above it, and goes back to the root. A game that is seen
    /// to end for the first time may prove nodes above it; from there on the proof's value counts.
    fn back_up(&mut self, leaf: u32, mut value: f32) {
        self.work.simulations += 1;
        self.work.depth = self.work.depth.max(self.path.len() as u32);
        let leaf = self.tree.node_mut(leaf);
        let mut proven = leaf.proof.is_some() && leaf.visits == 0;
        leaf.add(value);
        while let Some((at, edge)) = self.path.pop() {
            value = -value;
            self.tree.back_up(at, edge, value);
            if proven {
                if at == ROOT {
                    // The move may be out of the race.
                    self.undecided = 0;
                }
                proven = self.tree.prove(at, edge);
                value = if proven { self.tree.node(at).value } else { value };
            }
            self.game.undo();
        }
    }

    /// Gives up a leaf that waits for its evaluation.
    fn abandon(&mut self) {
        self.waiting = false;
        while self.path.pop().is_some() {
            self.game.undo();
        }
    }

    /// Moves the root on to the position of a game, if the tree reaches it.
    fn follow(&mut self, game: &Game) -> bool {
        let known = self.game.moves().len();
        let goes_on = game.rules() == self.game.rules()
            && game.start() == self.game.start()
            && game.moves().starts_with(self.game.moves())
            && game.result().is_none();
        if self.tree.root().is_none() || !goes_on {
            return false;
        }
        let mut root = ROOT;
        for &mv in &game.moves()[known..] {
            let edge = self.tree.edges(root).find(|edge| edge.mv == mv);
            let Some(child) = edge.and_then(|edge| edge.child) else { return false };
            root = child;
        }
        // A leaf of the tables, in a game that went on there.
        if self.tree.node(root).edges == 0 {
            return false;
        }
        if root != ROOT {
            self.tree.copy_subtree(root, &mut self.spare);
            std::mem::swap(&mut self.tree, &mut self.spare);
            if self.spare.bytes() > KEPT {
                self.spare = Tree::default();
            }
            self.policy.clear();
            game.moves()[known..].iter().for_each(|&mv| self.game.play_legal(mv));
        }
        true
    }
}
