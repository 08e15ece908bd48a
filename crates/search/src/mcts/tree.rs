//! The nodes and edges of a search tree, in flat arrays.
//!
//! Most nodes are leaves that are never visited again. Such a node has its moves and their priors only;
//! what is known of children takes twice as much memory, and is there once it has one.

use surakarta_game::Move;

use super::solver::Proof;

/// Edges are kept in blocks of eight, so that the choice among them is a few vector operations.
pub(super) const LANES: usize = 8;

/// No child yet, or no block.
const NONE: u32 = u32::MAX;

/// The root is always the first node.
pub(super) const ROOT: u32 = 0;

/// 40 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Sum of the values backed up through it, seen by the side to move here.
    sum: f64,
    /// Its first block of moves.
    moves: u32,
    /// Its first block of children; [`NONE`] without any child.
    children: u32,
    pub(super) visits: u32,
    /// The value that it came with, seen by the side to move; once it is proven, that of the proof.
    pub(super) value: f32,
    /// Sum of the priors of the edges that have been visited.
    visited: f32,
    /// How many edges it has: none at a finished game.
    pub(super) edges: u16,
    /// Plies to the end of the game along the proof; 0 without one.
    pub(super) plies: u16,
    /// The result, once it is proven.
    pub(super) proof: Option<Proof>,
}

impl Node {
    /// Mean of the values backed up, seen by the side to move.
    #[inline]
    pub(super) fn mean(&self) -> f32 {
        (self.sum / self.visits as f64) as f32
    }

    #[inline]
    pub(super) fn add(&mut self, value: f32) {
        self.visits += 1;
        self.sum += value as f64;
    }

    /// Whether descents end here: the game is over, or its result is proven.
    #[inline]
    pub(super) fn ends(&self) -> bool {
        self.edges == 0 || self.proof.is_some()
    }

    /// The result is proven: all its visits count as this value.
    pub(super) fn settle(&mut self, proof: Option<Proof>, value: f32, plies: u16) {
        (self.proof, self.value, self.plies) = (proof, value, plies);
        self.sum = self.visits as f64 * value as f64;
    }

    fn blocks(&self) -> usize {
        (self.edges as usize).div_ceil(LANES)
    }

    fn moves(&self) -> std::ops::Range<usize> {
        let first = self.moves as usize;
        first..first + self.blocks()
    }

    /// Its blocks of children, which has to have one.
    fn children(&self) -> std::ops::Range<usize> {
        let first = self.children as usize;
        first..first + self.blocks()
    }
}

/// Eight moves of one node, the last block filled up with moves of no probability.
#[derive(Clone, Copy, Debug)]
struct Moves {
    prior: [f32; LANES],
    mv: [Move; LANES],
}

/// What is known of the children behind eight moves.
#[derive(Clone, Copy, Debug)]
struct Children {
    /// Mean value, seen by the side to move at the node; −∞ if the edge is never chosen.
    value: [f32; LANES],
    /// 1 / (1 + visits): exactly 1 before the first visit.
    share: [f32; LANES],
    child: [u32; LANES],
}

impl Children {
    /// None yet, of the first so many edges.
    const fn none(edges: usize) -> Children {
        let mut none = Children { value: [0.0; LANES], share: [1.0; LANES], child: [NONE; LANES] };
        let mut lane = edges;
        while lane < LANES {
            (none.value[lane], none.share[lane]) = (f32::NEG_INFINITY, 0.5);
            lane += 1;
        }
        none
    }
}

/// `exploration` · P + `urgency`: what the scores of edges are before any visit.
#[inline]
fn first_scores(moves: &Moves, exploration: f32, urgency: f32) -> [f32; LANES] {
    moves.prior.map(|prior| exploration * prior + urgency)
}

/// Q + `exploration` · P / (1 + n), with `urgency` as Q where n = 0. Each line is one operation on all
/// eight: in a single loop the compiler would take them one by one.
#[inline]
fn scores(moves: &Moves, children: &Children, exploration: f32, urgency: f32) -> [f32; LANES] {
    let mut scores = [0.0; LANES];
    for (score, prior) in scores.iter_mut().zip(&moves.prior) {
        *score = exploration * prior;
    }
    for (score, share) in scores.iter_mut().zip(&children.share) {
        *score *= share;
    }
    let mut values = children.value;
    for (value, share) in values.iter_mut().zip(&children.share) {
        *value = if *share == 1.0 { urgency } else { *value };
    }
    for (score, value) in scores.iter_mut().zip(&values) {
        *score += value;
    }
    scores
}

/// The highest score so far.
struct Highest {
    edge: usize,
    score: f32,
}

impl Highest {
    /// Takes notice of eight more, of which the first has this number. The first of equals counts.
    #[inline]
    fn among(&mut self, first: usize, scores: [f32; LANES]) {
        let high = max(scores);
        if high > self.score {
            let lane = scores.iter().position(|&score| score == high).unwrap_or(0);
            *self = Highest { edge: first + lane, score: high };
        }
    }
}

/// The highest of eight, by halves, which is three vector operations.
#[inline]
fn max(x: [f32; LANES]) -> f32 {
    let higher = |a: f32, b: f32| if a > b { a } else { b };
    let four: [f32; 4] = std::array::from_fn(|n| higher(x[n], x[n + 4]));
    higher(higher(four[0], four[2]), higher(four[1], four[3]))
}

/// One move of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) mv: Move,
    pub(super) prior: f32,
    pub(super) child: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    moves: Vec<Moves>,
    children: Vec<Children>,
}

impl Tree {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.moves.clear();
        self.children.clear();
    }

    /// Memory in use. As much again may be set aside for what comes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..])
            + size_of_val(&self.moves[..])
            + size_of_val(&self.children[..])
    }

    pub(super) fn root(&self) -> Option<&Node> {
        self.nodes.first()
    }

    #[inline]
    pub(super) fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    #[inline]
    pub(super) fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    /// Adds a node without visits. It is nobody's child yet.
    pub(super) fn push(&mut self, moves: &[Move], priors: &[f32], value: f32) -> u32 {
        let node = Node {
            sum: 0.0,
            moves: self.moves.len() as u32,
            children: NONE,
            visits: 0,
            value,
            visited: 0.0,
            edges: u16::try_from(moves.len()).expect("a position has some dozens of moves"),
            plies: 0,
            proof: None,
        };
        let (full, rest) = moves.as_chunks();
        let (full_priors, rest_priors) = priors.as_chunks();
        let full = full.iter().zip(full_priors);
        self.moves.extend(full.map(|(&mv, &prior)| Moves { prior, mv }));
        if let Some(&first) = rest.first() {
            let mut last = Moves { prior: [0.0; LANES], mv: [first; LANES] };
            last.mv.iter_mut().zip(rest).for_each(|(mv, &given)| *mv = given);
            last.prior.iter_mut().zip(rest_priors).for_each(|(prior, &given)| *prior = given);
            self.moves.push(last);
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// The edge that maximises Q + `exploration` · P / (1 + n), the first of equals. Edges without
    /// visits count as the node's mean less `reduction` · √(visited prior).
    #[inline]
    pub(super) fn select(&self, at: u32, exploration: f32, reduction: f32) -> usize {
        let node = self.node(at);
        let mut highest = Highest { edge: 0, score: f32::NEG_INFINITY };
        let moves = &self.moves[node.moves()];
        if node.children == NONE {
            // What fills up the last block comes after its edges and scores no more than any.
            for (block, moves) in moves.iter().enumerate() {
                highest.among(block * LANES, first_scores(moves, exploration, node.mean()));
            }
            return highest.edge;
        }
        let urgency = node.mean() - reduction * node.visited.sqrt();
        for (block, (moves, children)) in
            moves.iter().zip(&self.children[node.children()]).enumerate()
        {
            highest.among(block * LANES, scores(moves, children, exploration, urgency));
        }
        highest.edge
    }

    #[inline]
    pub(super) fn edge(&self, at: u32, edge: usize) -> Edge {
        let node = self.node(at);
        let (block, lane) = (edge / LANES, edge % LANES);
        let moves = &self.moves[node.moves as usize + block];
        let child = match node.children {
            NONE => NONE,
            first => self.children[first as usize + block].child[lane],
        };
        let child = Some(child).filter(|&child| child != NONE);
        Edge { mv: moves.mv[lane], prior: moves.prior[lane], child }
    }

    /// The edges of a node in the order of its moves.
    pub(super) fn edges(&self, at: u32) -> impl Iterator<Item = Edge> + '_ {
        (0..self.node(at).edges as usize).map(move |edge| self.edge(at, edge))
    }

    /// Makes a node the child behind an edge.
    pub(super) fn attach(&mut self, at: u32, edge: usize, child: u32) {
        let node = &mut self.nodes[at as usize];
        let (block, lane) = (edge / LANES, edge % LANES);
        if node.children == NONE {
            node.children = self.children.len() as u32;
            let (full, rest) = (node.edges as usize / LANES, node.edges as usize % LANES);
            self.children.extend(std::iter::repeat_n(const { Children::none(LANES) }, full));
            if rest > 0 {
                self.children.push(Children::none(rest));
            }
        }
        self.children[node.children as usize + block].child[lane] = child;
        node.visited += self.moves[node.moves as usize + block].prior[lane];
    }

    /// Brings an edge up to date after a visit of its child, then adds the value to its node.
    #[inline]
    pub(super) fn back_up(&mut self, at: u32, edge: usize, value: f32) {
        let block = self.node(at).children as usize + edge / LANES;
        let lane = edge % LANES;
        let child = self.node(self.children[block].child[lane]);
        let (mean, share) = (child.mean(), 1.0 / (1 + child.visits) as f32);
        self.children[block].value[lane] = -mean;
        self.children[block].share[lane] = share;
        self.node_mut(at).add(value);
    }

    /// Keeps an edge that has a child from being chosen again.
    pub(super) fn bar(&mut self, at: u32, edge: usize) {
        let block = self.node(at).children as usize + edge / LANES;
        self.children[block].value[edge % LANES] = f32::NEG_INFINITY;
    }

    /// Replaces the root's priors, one a move.
    pub(super) fn set_root_priors(&mut self, priors: &[f32]) {
        let blocks = self.nodes[ROOT as usize].moves();
        for (moves, priors) in self.moves[blocks].iter_mut().zip(priors.chunks(LANES)) {
            moves.prior[..priors.len()].copy_from_slice(priors);
        }
        let visited = self.edges(ROOT).filter(|edge| edge.child.is_some());
        let visited = visited.map(|edge| edge.prior).sum();
        self.nodes[ROOT as usize].visited = visited;
    }

    /// Copies a node and everything below it; it becomes the root of the copy.
    pub(super) fn copy_subtree(&self, root: u32, into: &mut Tree) {
        into.clear();
        into.nodes.push(*self.node(root));
        let mut at = 0;
        while at < into.nodes.len() {
            let node = into.nodes[at];
            into.nodes[at].moves = into.moves.len() as u32;
            into.moves.extend_from_slice(&self.moves[node.moves()]);
            if node.children != NONE {
                into.nodes[at].children = into.children.len() as u32;
                for mut children in self.children[node.children()].iter().copied() {
                    for child in children.child.iter_mut().filter(|child| **child != NONE) {
                        let copied = into.nodes.len() as u32;
                        into.nodes.push(*self.node(*child));
                        *child = copied;
                    }
                    into.children.push(children);
                }
            }
            at += 1;
        }
    }
}
