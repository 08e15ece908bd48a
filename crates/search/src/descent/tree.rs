//! The states of a search and what is known of their moves, in two flat arrays.

use std::cmp::Ordering;

use surakarta_game::Move;

/// The root is always the first node.
pub(super) const ROOT: u32 = 0;

/// A state with all its children. What it is worth is what its best move is worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Its first edge.
    first: u32,
    /// How many edges it has: one or more.
    edges: u32,
    /// Iterations that came through it, the one that made it included.
    pub(super) visits: u32,
    pub(super) worth: Worth,
}

impl Node {
    fn range(&self) -> std::ops::Range<usize> {
        let first = self.first as usize;
        first..first + self.edges as usize
    }
}

/// What is known of a state, seen by the player whose choice it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    /// Backed up from the leaves.
    pub(super) value: f32,
    /// 1 for a proven win, −1 for a proven loss, 0 for anything else.
    pub(super) completion: i8,
    /// Whether the result under best play of both is proven. `completion` then is this result.
    pub(super) resolved: bool,
}

impl Worth {
    /// The same, seen by the other player.
    fn reversed(self) -> Worth {
        Worth { value: -self.value, completion: -self.completion, ..self }
    }
}

/// One move of a node, with the state that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) mv: Move,
    /// Iterations that went on with this move.
    pub(super) visits: u32,
    /// Seen by the player of the move.
    pub(super) worth: Worth,
    /// The child, once it has children itself.
    pub(super) child: Option<NonRoot>,
}

/// The number of a node that is somebody's child.
pub(super) type NonRoot = std::num::NonZeroU32;

impl Edge {
    pub(super) fn new(mv: Move, worth: Worth) -> Edge {
        Edge { mv, visits: 0, worth, child: None }
    }

    /// By completion, then value, then visits.
    fn by_value(&self, other: &Edge) -> Ordering {
        let rank = |edge: &Edge| (edge.worth.completion, edge.worth.value, edge.visits);
        order(&rank(self), &rank(other))
    }
}

/// Numbers only: a value is never NaN.
fn order<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl Tree {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
    }

    pub(super) fn root(&self) -> Option<&Node> {
        self.nodes.first()
    }

    pub(super) fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    /// The edges of a node in the order of its moves.
    pub(super) fn edges(&self, at: u32) -> &[Edge] {
        &self.edges[self.node(at).range()]
    }

    /// States in the tree beside the root.
    pub(super) fn states(&self) -> usize {
        self.edges.len()
    }

    /// Adds a node without visits, with its edges. It is nobody's child yet.
    pub(super) fn push(&mut self, edges: &[Edge]) -> u32 {
        let (first, count) = (self.edges.len() as u32, edges.len() as u32);
        self.edges.extend_from_slice(edges);
        let worth = Worth { value: 0.0, completion: 0, resolved: false };
        self.nodes.push(Node { first, edges: count, visits: 0, worth });
        let at = self.nodes.len() as u32 - 1;
        self.nodes[at as usize].worth = self.worth(at);
        at
    }

    /// Makes a node the child behind an edge.
    pub(super) fn attach(&mut self, at: u32, edge: usize, child: u32) {
        let first = self.node(at).first as usize;
        self.edges[first + edge].child = NonRoot::new(child);
    }

    /// The move to look into: of those that are not resolved the one of the highest value, of equals
    /// one with the fewest visits, of these the first.
    pub(super) fn select(&self, at: u32) -> usize {
        let edges = self.edges(at);
        let promise = |edge: &Edge| (edge.worth.value, -i64::from(edge.visits));
        let open = (0..edges.len()).filter(|&n| !edges[n].worth.resolved);
        first_of_best(open, |a, b| order(&promise(&edges[a]), &promise(&edges[b]))).unwrap_or(0)
    }

    /// The best move by completion, then value, then visits; the first of equals.
    pub(super) fn best(&self, at: u32) -> usize {
        let edges = self.edges(at);
        first_of_best(0..edges.len(), |a, b| edges[a].by_value(&edges[b])).unwrap_or(0)
    }

    /// The safest move: a proven win, else the most visited of those that are not resolved, of equals
    /// the one of the highest value, then the first. A proven draw has no visits to show for it: it is
    /// preferred where it is worth more than that move.
    pub(super) fn safest(&self, at: u32) -> usize {
        let edges = self.edges(at);
        let (resolved, open): (Vec<usize>, Vec<usize>) =
            (0..edges.len()).partition(|&n| edges[n].worth.resolved);
        let safety = |n: usize| (edges[n].visits, edges[n].worth.value);
        let safest = first_of_best(open.into_iter(), |a, b| order(&safety(a), &safety(b)));
        let proven = first_of_best(resolved.into_iter(), |a, b| edges[a].by_value(&edges[b]));
        let rank = |n: usize| (edges[n].worth.completion, edges[n].worth.value);
        match (safest, proven) {
            (Some(safest), Some(proven)) if rank(proven) > rank(safest) => proven,
            (safest, proven) => safest.or(proven).unwrap_or(0),
        }
    }

    /// All moves of a node, the best first, by the order of [`best`](Self::best).
    pub(super) fn ranked(&self, at: u32) -> Vec<usize> {
        let edges = self.edges(at);
        let mut ranked: Vec<usize> = (0..edges.len()).collect();
        ranked.sort_by(|&a, &b| edges[b].by_value(&edges[a]));
        ranked
    }

    /// Counts an iteration through a node.
    pub(super) fn visit(&mut self, at: u32) {
        self.nodes[at as usize].visits += 1;
    }

    /// Counts an iteration through an edge, and brings it and its node up to date with its child.
    pub(super) fn back_up(&mut self, at: u32, edge: usize, child: u32) {
        let place = self.node(at).first as usize + edge;
        let worth = self.node(child).worth.reversed();
        let edge = &mut self.edges[place];
        edge.visits += 1;
        // Visits alone change nothing above: they only decide among equals.
        if edge.worth != worth {
            edge.worth = worth;
            self.nodes[at as usize].worth = self.worth(at);
        }
        self.visit(at);
    }

    /// That of the best move; resolved by a win, or if every move is resolved.
    fn worth(&self, at: u32) -> Worth {
        let edges = self.edges(at);
        let best = edges[self.best(at)].worth;
        let resolved = best.completion != 0 || edges.iter().all(|edge| edge.worth.resolved);
        Worth { resolved, ..best }
    }

    /// Copies a node and everything below it; it becomes the root of the copy.
    pub(super) fn copy_subtree(&self, root: u32, into: &mut Tree) {
        into.clear();
        into.nodes.push(*self.node(root));
        let mut at = 0;
        while at < into.nodes.len() {
            let range = into.nodes[at].range();
            into.nodes[at].first = into.edges.len() as u32;
            for mut edge in self.edges[range].iter().copied() {
                if let Some(child) = edge.child {
                    edge.child = NonRoot::new(into.nodes.len() as u32);
                    into.nodes.push(*self.node(child.get()));
                }
                into.edges.push(edge);
            }
            at += 1;
        }
    }
}

/// The greatest, the first of equals.
fn first_of_best(
    places: impl Iterator<Item = usize>,
    order: impl Fn(usize, usize) -> Ordering,
) -> Option<usize> {
    places.reduce(|best, n| if order(n, best) == Ordering::Greater { n } else { best })
}
