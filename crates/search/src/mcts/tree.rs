//! The nodes and edges of a search tree, in two flat arrays.

use surakarta_game::Move;

use super::solver::Proof;

/// Edges are kept in blocks of eight, so that the choice among them is a few vector operations.
pub(super) const LANES: usize = 8;

/// No child yet.
const NONE: u32 = u32::MAX;

/// The root is always the first node.
pub(super) const ROOT: u32 = 0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Sum of the values backed up through it, seen by the side to move here.
    sum: f64,
    /// Its first block of edges.
    block: u32,
    pub(super) visits: u32,
    /// How many edges it has: none at a finished game.
    pub(super) edges: u32,
    /// The value that it came with, seen by the side to move; once it is proven, that of the proof.
    pub(super) value: f32,
    /// Sum of the priors of the edges that have been visited.
    visited: f32,
    /// Plies to the end of the game along the proof; 0 without one.
    pub(super) plies: u16,
    /// Whether descents end here: the game is over, or its result is proven.
    pub(super) ends: bool,
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

    /// The result is proven: all its visits count as this value.
    pub(super) fn settle(&mut self, proof: Option<Proof>, value: f32, plies: u16) {
        (self.proof, self.value, self.plies, self.ends) = (proof, value, plies, true);
        self.sum = self.visits as f64 * value as f64;
    }

    fn blocks(&self) -> std::ops::Range<usize> {
        let first = self.block as usize;
        first..first + (self.edges as usize).div_ceil(LANES)
    }
}

/// Eight edges of one node, the last block filled up with edges that are never chosen.
#[derive(Clone, Copy, Debug)]
struct Eight {
    prior: [f32; LANES],
    /// Mean value of the child, seen by the side to move at the node; −∞ if it is never chosen.
    value: [f32; LANES],
    /// 1 / (1 + visits): exactly 1 before the first visit.
    share: [f32; LANES],
    child: [u32; LANES],
    mv: [Move; LANES],
}

impl Eight {
    /// Q + `exploration` · P / (1 + n), with `urgency` as Q where n = 0. Each line is one operation
    /// on all eight: in a single loop the compiler would take them one by one.
    #[inline]
    fn scores(&self, exploration: f32, urgency: f32) -> [f32; LANES] {
        let mut scores = [0.0; LANES];
        for (score, prior) in scores.iter_mut().zip(&self.prior) {
            *score = exploration * prior;
        }
        for (score, share) in scores.iter_mut().zip(&self.share) {
            *score *= share;
        }
        let mut values = self.value;
        for (value, share) in values.iter_mut().zip(&self.share) {
            *value = if *share == 1.0 { urgency } else { *value };
        }
        for (score, value) in scores.iter_mut().zip(&values) {
            *score += value;
        }
        scores
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
    edges: Vec<Eight>,
}

impl Tree {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
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
        let block = self.edges.len() as u32;
        for (moves, priors) in moves.chunks(LANES).zip(priors.chunks(LANES)) {
            let mut eight = Eight {
                prior: [0.0; LANES],
                value: [f32::NEG_INFINITY; LANES],
                share: [0.5; LANES],
                child: [NONE; LANES],
                mv: [moves[0]; LANES],
            };
            eight.mv[..moves.len()].copy_from_slice(moves);
            eight.prior[..moves.len()].copy_from_slice(priors);
            eight.share[..moves.len()].fill(1.0);
            self.edges.push(eight);
        }
        let edges = moves.len() as u32;
        let ends = moves.is_empty();
        self.nodes.push(Node {
            sum: 0.0,
            block,
            visits: 0,
            edges,
            value,
            visited: 0.0,
            plies: 0,
            ends,
            proof: None,
        });
        self.nodes.len() as u32 - 1
    }

    /// The edge that maximises Q + `exploration` · P / (1 + n), the first of equals. Edges without
    /// visits count as the node's mean less `reduction` · √(visited prior).
    #[inline]
    pub(super) fn select(&self, at: u32, exploration: f32, reduction: f32) -> usize {
        let node = self.node(at);
        let urgency = node.mean() - reduction * node.visited.sqrt();
        let (mut best, mut highest) = (0, f32::NEG_INFINITY);
        for (block, eight) in self.edges[node.blocks()].iter().enumerate() {
            let scores = eight.scores(exploration, urgency);
            let high = max(scores);
            if high > highest {
                let lane = scores.iter().position(|&score| score == high).unwrap_or(0);
                (best, highest) = (block * LANES + lane, high);
            }
        }
        best
    }

    #[inline]
    pub(super) fn edge(&self, at: u32, edge: usize) -> Edge {
        let eight = &self.edges[self.node(at).block as usize + edge / LANES];
        let lane = edge % LANES;
        let child = Some(eight.child[lane]).filter(|&child| child != NONE);
        Edge { mv: eight.mv[lane], prior: eight.prior[lane], child }
    }

    /// The edges of a node in the order of its moves.
    pub(super) fn edges(&self, at: u32) -> impl Iterator<Item = Edge> + '_ {
        (0..self.node(at).edges as usize).map(move |edge| self.edge(at, edge))
    }

    /// Makes a node the child behind an edge.
    pub(super) fn attach(&mut self, at: u32, edge: usize, child: u32) {
        let node = &mut self.nodes[at as usize];
        let eight = &mut self.edges[node.block as usize + edge / LANES];
        eight.child[edge % LANES] = child;
        node.visited += eight.prior[edge % LANES];
    }

    /// Brings an edge up to date after a visit of its child, then adds the value to its node.
    #[inline]
    pub(super) fn back_up(&mut self, at: u32, edge: usize, value: f32) {
        let block = self.node(at).block as usize + edge / LANES;
        let lane = edge % LANES;
        let child = self.node(self.edges[block].child[lane]);
        let (mean, share) = (child.mean(), 1.0 / (1 + child.visits) as f32);
        self.edges[block].value[lane] = -mean;
        self.edges[block].share[lane] = share;
        self.node_mut(at).add(value);
    }

    /// Keeps an edge from being chosen again.
    pub(super) fn bar(&mut self, at: u32, edge: usize) {
        let block = self.node(at).block as usize + edge / LANES;
        self.edges[block].value[edge % LANES] = f32::NEG_INFINITY;
    }

    /// Replaces the root's priors, one a move.
    pub(super) fn set_root_priors(&mut self, priors: &[f32]) {
        let blocks = self.nodes[ROOT as usize].blocks();
        for (eight, priors) in self.edges[blocks].iter_mut().zip(priors.chunks(LANES)) {
            eight.prior[..priors.len()].copy_from_slice(priors);
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
            let blocks = into.nodes[at].blocks();
            into.nodes[at].block = into.edges.len() as u32;
            for block in blocks {
                let mut eight = self.edges[block];
                for child in eight.child.iter_mut().filter(|child| **child != NONE) {
                    let copied = into.nodes.len() as u32;
                    into.nodes.push(*self.node(*child));
                    *child = copied;
                }
                into.edges.push(eight);
            }
            at += 1;
        }
    }
}
