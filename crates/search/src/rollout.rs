//! Monte Carlo tree search with random playouts: UCT, as Kocsis and Szepesvári published it in 2006
//! ("Bandit based Monte-Carlo planning"), a node added to the tree with every simulation.

use std::ops::ControlFlow;
use std::time::Instant;

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use surakarta_game::{Color, Game, LANES, Move, play_out_many};

use crate::player::{Choice, Limits, Player, PlayerError, Work};
use crate::random::Stream;
use crate::simple::stream_at;

/// How a [`RolloutPlayer`] thinks.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutConfig {
    /// The limits by simulations and time that hold when a choice comes without either. If these
    /// have none either, 400 simulations.
    pub limits: Limits,
    /// Weight of exploration, c in UCB1: mean + c √(ln N / n), with results in [−1, 1] and N and n
    /// counting playouts.
    pub exploration: f32,
    /// Random games from the leaf of each simulation, 1 or more (0 counts as 1). They are played at
    /// the same time: see [`play_out_many`]. At 8 to 10 ms a move four were worth 22 ± 21 Elo (550
    /// pairs) over one.
    pub playouts: u32,
    /// A playout that is not over after so many plies is decided by counting the pieces.
    pub playout_plies: u32,
    /// Nodes after which the tree does not grow any more; simulations go on without adding to it. The
    /// children of the last leaf that was opened may exceed it.
    pub max_nodes: usize,
}

const DEFAULT_SIMULATIONS: u32 = 400;

impl Default for RolloutConfig {
    fn default() -> Self {
        RolloutConfig {
            limits: Limits { simulations: Some(DEFAULT_SIMULATIONS), ..Limits::default() },
            exploration: 0.7,
            playouts: LANES as u32,
            playout_plies: 1000,
            max_nodes: 1 << 20,
        }
    }
}

/// UCT under the rules of the game: a playout ends as the game would. Each choice grows a tree of its
/// own and plays its most visited move.
#[derive(Clone, Debug)]
pub struct RolloutPlayer {
    config: RolloutConfig,
    seed: u64,
}

impl RolloutPlayer {
    /// A player whose games draw on seed 0 until [`Player::new_game`] says otherwise.
    pub fn new(config: RolloutConfig) -> RolloutPlayer {
        RolloutPlayer { config, seed: 0 }
    }

    /// Searches as [`choose`](Player::choose) does, and returns the tree. `watch` sees it after every
    /// simulation; if it breaks, the search ends there.
    ///
    /// # Errors
    /// If the game is over.
    pub fn analyse(
        &self,
        game: &Game,
        limits: &Limits,
        watch: &mut dyn FnMut(&Rollouts<'_>) -> ControlFlow<()>,
    ) -> Result<Rollouts<'_>, PlayerError> {
        let asked = limits.for_move_of(game.side_to_move());
        let (simulations, deadline) = self.limits(&asked, Instant::now());
        if game.legal_moves().is_empty() {
            return Err(PlayerError::GameOver);
        }
        let tree = Tree::new(game, &self.config, stream_at(self.seed, game));
        let mut rollouts = Rollouts { tree };
        loop {
            rollouts.tree.simulate();
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let left = watch(&rollouts).is_break();
            if left || late || rollouts.tree.simulations() >= simulations {
                return Ok(rollouts);
            }
        }
    }

    /// The limits that apply to this player: simulations, and the end of its time.
    fn limits(&self, asked: &Limits, started: Instant) -> (u64, Option<Instant>) {
        let applies = |l: &&Limits| l.simulations.is_some() || l.time.is_some();
        let usual = RolloutConfig::default().limits;
        let limits = [asked, &self.config.limits].into_iter().find(applies).unwrap_or(&usual);
        let deadline = limits.time.and_then(|time| started.checked_add(time));
        (limits.simulations.map_or(u64::MAX, u64::from), deadline)
    }
}

impl Player for RolloutPlayer {
    fn new_game(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError> {
        Ok(self.analyse(game, limits, &mut |_| ControlFlow::Continue(()))?.tree.choice())
    }
}

/// The tree of a [`RolloutPlayer`].
pub struct Rollouts<'a> {
    tree: Tree<'a>,
}

/// What a [`RolloutPlayer`] has found out about one move of the root.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutMove {
    /// The move.
    pub mv: Move,
    /// Simulations that began with it.
    pub visits: u64,
    /// Its mean result in [−1, 1], seen by the side to move at the root; `None` without visits.
    pub value: Option<f32>,
    /// The line that begins with it and goes on with the most visited moves; empty without visits.
    pub line: Vec<Move>,
}

impl Rollouts<'_> {
    /// Every move of the root, the most visited first.
    pub fn moves(&self) -> Vec<RolloutMove> {
        let tree = &self.tree;
        let mut children: Vec<usize> = tree.children(0).collect();
        // As `favourite` has it: the last of equals.
        let standing = |&child: &usize| (tree.nodes[child].visits, tree.nodes[child].results);
        children.reverse();
        children.sort_by_key(|child| std::cmp::Reverse(standing(child)));
        let stats = |child: usize| {
            let node = &tree.nodes[child];
            let visited = Some(child).filter(|_| node.visits > 0);
            RolloutMove {
                mv: node.mv,
                visits: node.visits / tree.playouts(),
                value: visited.map(|_| node.mean() as f32),
                line: tree.line(visited),
            }
        };
        children.into_iter().map(stats).collect()
    }

    /// What the search has done so far.
    pub fn work(&self) -> Work {
        self.tree.work()
    }
}

/// A position in the tree, by the move that leads to it.
struct Node {
    mv: Move,
    /// The number of its children, which stand side by side; 0 in a leaf.
    children: u32,
    first_child: usize,
    /// Playouts of its simulations.
    visits: u64,
    /// Sum of their results (1, 0, −1), seen by the player of `mv`.
    results: i64,
}

impl Node {
    fn mean(&self) -> f64 {
        self.results as f64 / self.visits.max(1) as f64
    }
}

struct Tree<'a> {
    config: &'a RolloutConfig,
    /// Stands at the root between simulations.
    game: Game,
    random: Stream,
    nodes: Vec<Node>,
    /// From the root to the node of the present simulation.
    path: Vec<usize>,
    moves: Vec<Move>,
    longest: usize,
}

impl<'a> Tree<'a> {
    fn new(game: &Game, config: &'a RolloutConfig, random: Stream) -> Tree<'a> {
        let mut tree = Tree {
            config,
            game: game.clone(),
            random,
            nodes: Vec::new(),
            path: Vec::new(),
            moves: Vec::new(),
            longest: 0,
        };
        let mv = game.legal_moves()[0];
        tree.nodes.push(Node { mv, children: 0, first_child: 0, visits: 0, results: 0 });
        tree.expand(0);
        tree
    }

    fn simulations(&self) -> u64 {
        self.nodes[0].visits / self.playouts()
    }

    fn playouts(&self) -> u64 {
        self.config.playouts.max(1).into()
    }

    /// One descent from the root: down the tree, perhaps one node further, then at random to the end.
    fn simulate(&mut self) {
        let root = self.game.moves().len();
        self.path.clear();
        let mut node = 0;
        loop {
            self.path.push(node);
            if self.game.result().is_some() {
                break;
            }
            if self.nodes[node].children == 0 {
                let room = self.nodes.len() < self.config.max_nodes;
                if self.nodes[node].visits == 0 || !room {
                    break;
                }
                self.expand(node);
            }
            node = self.select(node);
            self.game.play_legal(self.nodes[node].mv);
        }
        self.longest = self.longest.max(self.path.len() - 1);

        let balance = self.play_out();
        while self.game.moves().len() > root {
            self.game.undo();
        }
        let playouts = self.playouts();
        // The root's "player" is the one who is not to move.
        let mut player = self.game.side_to_move().other();
        for &node in &self.path {
            self.nodes[node].visits += playouts;
            self.nodes[node].results += if player == Color::Black { balance } else { -balance };
            player = player.other();
        }
    }

    /// Adds the children, in random order so that ties mean nothing.
    fn expand(&mut self, node: usize) {
        self.game.legal_moves_into(&mut self.moves);
        self.moves.shuffle(&mut self.random);
        self.nodes[node].first_child = self.nodes.len();
        self.nodes[node].children = self.moves.len() as u32;
        let child = |&mv: &Move| Node { mv, children: 0, first_child: 0, visits: 0, results: 0 };
        self.nodes.extend(self.moves.iter().map(child));
    }

    fn children(&self, node: usize) -> std::ops::Range<usize> {
        let first = self.nodes[node].first_child;
        first..first + self.nodes[node].children as usize
    }

    /// The child that UCB1 would try: one never visited, else the most promising.
    fn select(&self, node: usize) -> usize {
        let log = (self.nodes[node].visits.max(1) as f64).ln();
        let promise = |child: &usize| match &self.nodes[*child] {
            Node { visits: 0, .. } => f64::INFINITY,
            n => n.mean() + self.config.exploration as f64 * (log / n.visits as f64).sqrt(),
        };
        let best = self.children(node).map(|child| (promise(&child), child));
        best.reduce(|a, b| if b.0 > a.0 { b } else { a }).map_or(node, |(_, child)| child)
    }

    /// Random games from here to their ends: the sum of their results, seen by Black.
    fn play_out(&mut self) -> i64 {
        let seed = self.random.next_u64();
        let stream = |number| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number));
            move || random.next_u64()
        };
        let mut balance = 0;
        let (plies, games) = (self.config.playout_plies, self.playouts());
        play_out_many(&self.game, plies, games, stream, |_, playout| {
            balance += i64::from(playout.outcome().value_for(Color::Black));
        });
        balance
    }

    /// The child with the most visits, of equal ones that with the better results.
    fn favourite(&self, node: usize) -> Option<usize> {
        let standing = |&child: &usize| (self.nodes[child].visits, self.nodes[child].results);
        self.children(node).max_by_key(standing).filter(|&child| self.nodes[child].visits > 0)
    }

    /// The moves from a child of the root on, along the favourites.
    fn line(&self, first: Option<usize>) -> Vec<Move> {
        let line = std::iter::successors(first, |&node| self.favourite(node));
        line.map(|node| self.nodes[node].mv).collect()
    }

    fn work(&self) -> Work {
        let (simulations, depth) = (self.simulations(), self.longest as u32);
        Work { simulations, depth, ..Work::default() }
    }

    fn choice(&self) -> Choice {
        let favourite = self.favourite(0).expect("the first simulation visits a child");
        Choice {
            mv: self.nodes[favourite].mv,
            value: Some(self.nodes[favourite].mean() as f32),
            line: self.line(Some(favourite)),
            work: self.work(),
        }
    }
}
