//! Iterations: from the root to the end of the tree, or of the game, and back.

use std::time::Instant;

use surakarta_game::{Game, Move, OLYMPIAD};
use surakarta_net::{Batch, Evaluator, EvaluatorError};

use super::tree::{Edge, ROOT, Tree, Worth};
use super::{DescentConfig, Method};
use crate::player::Work;

/// What ends a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Iterations through the root, inherited ones included.
    pub(super) simulations: u32,
    /// States that may be added to the tree; the children of the root always are.
    pub(super) nodes: u64,
    pub(super) deadline: Option<Instant>,
}

/// A tree and the game that leads to its root.
pub(super) struct Search {
    method: Method,
    margin_weight: f32,
    max_states: usize,
    pub(super) tree: Tree,
    /// Where `tree` is copied when its root moves on.
    spare: Tree,
    /// At the root between iterations.
    pub(super) game: Game,
    /// The nodes and edges from the root to where an iteration is.
    path: Vec<(u32, usize)>,
    batch: Batch,
    /// The legal moves of the state that gets its children, those of a child, and the new edges.
    moves: Vec<Move>,
    replies: Vec<Move>,
    edges: Vec<Edge>,
    pub(super) work: Work,
}

impl Search {
    /// A search without a game.
    pub(super) fn new(config: &DescentConfig) -> Search {
        Search {
            method: config.method,
            margin_weight: config.margin_weight,
            max_states: config.max_states as usize,
            tree: Tree::default(),
            spare: Tree::default(),
            game: Game::new(OLYMPIAD),
            path: Vec::new(),
            batch: Batch::default(),
            moves: Vec::new(),
            replies: Vec::new(),
            edges: Vec::new(),
            work: Work::default(),
        }
    }

    /// Searches the present position of a game that is not over. If the tree knows the moves that led
    /// there from its root, what is below them is kept. It stops early where the root is resolved, or
    /// the next state to open has too many children for what is left.
    ///
    /// # Errors
    /// If the network fails. The tree holds what was known until then.
    pub(super) fn run(
        &mut self,
        game: &Game,
        bounds: &Bounds,
        evaluator: &mut dyn Evaluator,
    ) -> Result<(), EvaluatorError> {
        if !self.follow(game) {
            self.tree.clear();
            self.game.clone_from(game);
        }
        self.work = Work::default();
        while self.wants_more(bounds) && self.iterate(bounds, evaluator)? {}
        Ok(())
    }

    fn wants_more(&self, bounds: &Bounds) -> bool {
        let done = |visits, resolved| resolved || visits >= bounds.simulations;
        self.tree.root().is_none_or(|root| !done(root.visits, root.worth.resolved))
    }

    /// One iteration. False if it could add nothing to the tree; the tree is then as before.
    fn iterate(
        &mut self,
        bounds: &Bounds,
        evaluator: &mut dyn Evaluator,
    ) -> Result<bool, EvaluatorError> {
        let (mut opened, mut failure) = (false, None);
        let (mut next, mut end) = (self.tree.root().map(|_| ROOT), None);
        loop {
            let node = match next {
                Some(node) => node,
                None => match self.open(bounds, evaluator) {
                    Ok(Some(node)) => {
                        opened = true;
                        node
                    }
                    stopped => {
                        failure = stopped.err();
                        self.step_back();
                        break;
                    }
                },
            };
            end = Some(node);
            let leaf = opened && self.method == Method::Ubfm;
            if leaf || self.tree.node(node).worth.resolved {
                break;
            }
            let edge = self.tree.select(node);
            self.path.push((node, edge));
            let Edge { mv, child, .. } = self.tree.edges(node)[edge];
            self.game.play_legal(mv);
            next = child.map(u32::from);
        }
        self.go_back(end.filter(|_| opened));
        failure.map_or(Ok(opened), Err)
    }

    /// Takes back the last move, to a state that has no children.
    fn step_back(&mut self) {
        if self.path.pop().is_some() {
            self.game.undo();
        }
    }

    /// Returns to the root from the end of an iteration, and backs up what it has found out, if that
    /// is anything.
    fn go_back(&mut self, end: Option<u32>) {
        if let Some(end) = end {
            self.work.simulations += 1;
            self.work.depth = self.work.depth.max(self.path.len() as u32 + 1);
            self.tree.visit(end);
        }
        let mut child = end;
        while let Some((node, edge)) = self.path.pop() {
            if let Some(below) = child {
                self.tree.back_up(node, edge, below);
                child = Some(node);
            }
            self.game.undo();
        }
    }

    /// Gives the present state its children, all evaluated at once, and attaches it to the tree.
    /// `None` if there is no room or time for them.
    fn open(
        &mut self,
        bounds: &Bounds,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Option<u32>, EvaluatorError> {
        self.game.legal_moves_into(&mut self.moves);
        if !self.path.is_empty() && !self.has_room(self.moves.len(), bounds) {
            return Ok(None);
        }
        self.batch.clear();
        self.edges.clear();
        for &mv in &self.moves {
            let mover = self.game.side_to_move();
            self.game.play_legal(mv);
            let position = *self.game.position();
            let worth = match self.game.result() {
                Some(result) => {
                    let completion = result.outcome.value_for(mover);
                    let margin =
                        position.count(mover) as f32 - position.count(mover.other()) as f32;
                    let margin = margin / position.variant().pieces() as f32;
                    let value = blend(completion as f32, margin, self.margin_weight);
                    Worth { value, completion, resolved: true }
                }
                None => {
                    // The policy is not used, so one move does for it.
                    self.game.legal_moves_into(&mut self.replies);
                    self.batch.push(position, &self.replies[..1]);
                    Worth { value: 0.0, completion: 0, resolved: false }
                }
            };
            self.edges.push(Edge::new(mv, worth));
            self.game.undo();
        }
        if !self.batch.is_empty() {
            evaluator.evaluate(&mut self.batch)?;
        }
        let open = self.edges.iter_mut().filter(|edge| !edge.worth.resolved);
        for (at, edge) in open.enumerate() {
            let outlook = self.batch.outlook(at);
            edge.worth.value = -blend(outlook.value(), outlook.margin, self.margin_weight);
        }
        self.work.nodes += self.edges.len() as u64;
        self.work.evaluations += self.batch.len() as u64;
        let node = self.tree.push(&self.edges);
        if let Some(&(at, edge)) = self.path.last() {
            self.tree.attach(at, edge, node);
        }
        Ok(Some(node))
    }

    fn has_room(&self, children: usize, bounds: &Bounds) -> bool {
        let late = bounds.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.tree.states() + children <= self.max_states
            && self.work.nodes + children as u64 <= bounds.nodes
            && !late
    }

    /// Moves the root on to the position of a game, if the tree reaches it.
    fn follow(&mut self, game: &Game) -> bool {
        let known = self.game.moves().len();
        let goes_on = game.rules() == self.game.rules()
            && game.start() == self.game.start()
            && game.moves().starts_with(self.game.moves());
        if self.tree.root().is_none() || !goes_on {
            return false;
        }
        let mut root = ROOT;
        for &mv in &game.moves()[known..] {
            let edge = self.tree.edges(root).iter().find(|edge| edge.mv == mv);
            let Some(child) = edge.and_then(|edge| edge.child) else { return false };
            root = child.get();
        }
        if root != ROOT {
            self.tree.copy_subtree(root, &mut self.spare);
            std::mem::swap(&mut self.tree, &mut self.spare);
            self.spare.clear();
            self.game.clone_from(game);
        }
        true
    }
}

/// A result or an expected one, with some of the piece margin.
fn blend(value: f32, margin: f32, weight: f32) -> f32 {
    (value + weight * margin) / (1.0 + weight)
}
