//! The decisions of a Gumbel search at one node: Danihelka, Guez, Schrittwieser and Silver, "Policy
//! improvement by planning with Gumbel", ICLR 2022.
//!
//! The root considers only some moves, those of the highest noise + ln P, which with Gumbel noise are
//! a draw without replacement from the policy P. Sequential halving shares the visits out among them:
//! each round visits all that are left equally often and keeps the better half by
//! noise + ln P + σ(q). Below the root a move is chosen so that visits come to follow the improved
//! policy π′ ∝ P · exp(σ(q)), which at the root is what there is to learn. In both
//!
//! - σ(q) = (c_visit + the most visits of any move) · c_scale · q;
//! - q of a move without visits is the node's mixed value ([`mixed_value`]): q is "completed";
//! - q may be rescaled first, so that the lowest and the highest of the mixed value and the values of
//!   the moves visited become 0 and 1.
//!
//! Constants and rescaling are those of DeepMind's library mctx, whose searches the tests repeat. It
//! rescales completed values over all moves there are, illegal ones included. As every position has
//! illegal ones, and these no visits, the mixed value is always among them; here it is so by
//! definition. The range then does not jump when the last legal move gets its first visit.
//!
//! Sums are in double precision: policies of many moves lose nothing to cancellation.

/// One move of a node as the decisions see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arm {
    /// Its probability in the network's policy.
    pub prior: f32,
    /// How often it has been visited.
    pub visits: u32,
    /// Its mean value in [−1, 1], seen by the side to move; of no account without visits.
    pub value: f32,
}

impl Arm {
    /// Above 0, so that it has a logarithm and a move of no probability at all can still be chosen
    /// where there is no other.
    fn prior(&self) -> f64 {
        self.prior.max(f32::MIN_POSITIVE) as f64
    }
}

/// How many visits the next move to visit must have, for each of so many visits: of the `considered`
/// moves all begin at 0, and each round halves them, down to two. The choice among those with as many
/// visits is then by score. As mctx has it, a round lasts until each of its k moves has had
/// simulations / (⌈log2 considered⌉ · k) more visits, rounded down, but at least one; so the last
/// rounds get what is left.
pub fn schedule(considered: usize, simulations: usize) -> Vec<u32> {
    let mut schedule = Vec::with_capacity(simulations + considered);
    if considered <= 1 {
        schedule.extend(0..simulations as u32);
        return schedule;
    }
    let rounds = considered.next_power_of_two().ilog2() as usize;
    let (mut left, mut visits) = (considered, 0);
    while schedule.len() < simulations {
        for _ in 0..(simulations / (rounds * left)).max(1) {
            schedule.extend(std::iter::repeat_n(visits, left));
            visits += 1;
        }
        left = (left / 2).max(2);
    }
    schedule.truncate(simulations);
    schedule
}

/// An estimate of a node's value from its own evaluation and the moves visited:
/// (own + n · Σ P·q / Σ P) / (1 + n), the sums over the moves visited, n all their visits (appendix D
/// of the paper).
pub fn mixed_value(own: f32, arms: &[Arm]) -> f64 {
    let (mut n, mut weight, mut sum) = (0, 0.0, 0.0);
    for arm in arms.iter().filter(|arm| arm.visits > 0) {
        n += arm.visits;
        weight += arm.prior();
        sum += arm.prior() * arm.value as f64;
    }
    if n == 0 {
        return own as f64;
    }
    (own as f64 + n as f64 * (sum / weight)) / (1.0 + n as f64)
}

/// The function σ, and the decisions that follow from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sigma {
    /// Visits that it counts from the start.
    pub c_visit: f32,
    /// Its slope for each of them.
    pub c_scale: f32,
    /// Whether values are rescaled to [0, 1] first.
    pub rescale: bool,
}

/// σ at one node.
struct At {
    mixed: f64,
    low: f64,
    slope: f64,
}

impl At {
    fn sigma(&self, arm: &Arm) -> f64 {
        let value = if arm.visits > 0 { arm.value as f64 } else { self.mixed };
        self.slope * (value - self.low)
    }
}

impl Sigma {
    fn at(&self, own: f32, arms: &[Arm]) -> At {
        let mixed = mixed_value(own, arms);
        let most = arms.iter().map(|arm| arm.visits).max().unwrap_or(0);
        let slope = (self.c_visit as f64 + most as f64) * self.c_scale as f64;
        if !self.rescale {
            return At { mixed, low: 0.0, slope };
        }
        let visited = arms.iter().filter(|arm| arm.visits > 0).map(|arm| arm.value as f64);
        let (low, high) = visited.fold((mixed, mixed), |(low, high), q| (low.min(q), high.max(q)));
        At { mixed, low, slope: slope / (high - low).max(1e-8) }
    }

    /// The improved policy π′ of a node with this value of its own: a probability for each move.
    pub fn policy(&self, own: f32, arms: &[Arm], policy: &mut Vec<f64>) {
        let at = self.at(own, arms);
        let highest = arms.iter().map(|arm| at.sigma(arm)).fold(f64::NEG_INFINITY, f64::max);
        // All moves without visits have the same σ.
        let untried = (at.slope * (at.mixed - at.low) - highest).exp();
        policy.clear();
        policy.extend(arms.iter().map(|arm| match arm.visits {
            0 => arm.prior() * untried,
            _ => arm.prior() * (at.sigma(arm) - highest).exp(),
        }));
        let sum: f64 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= sum);
    }

    /// The move to visit below the root: the highest π′ − n / (1 + Σ n), the first of equals.
    pub fn follow(&self, own: f32, arms: &[Arm], policy: &mut Vec<f64>) -> usize {
        if arms.len() == 1 {
            return 0;
        }
        self.policy(own, arms, policy);
        let all: u32 = arms.iter().map(|arm| arm.visits).sum();
        let share = |arm: &Arm| arm.visits as f64 / (1.0 + all as f64);
        let scores = policy.iter().zip(arms).map(|(p, arm)| p - share(arm));
        first_best(scores).unwrap_or(0)
    }

    /// The best of some moves at the root: the highest noise + ln P + σ(q), the first of equals.
    /// Without noise, all of it is 0. `None` if none of them may be taken.
    pub fn best(
        &self,
        own: f32,
        arms: &[Arm],
        noise: &[f32],
        may: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let at = self.at(own, arms);
        let score = |(n, arm): (usize, &Arm)| match may(n) {
            true => noise.get(n).map_or(0.0, |&g| g as f64) + arm.prior().ln() + at.sigma(arm),
            false => f64::NEG_INFINITY,
        };
        first_best(arms.iter().enumerate().map(score))
    }
}

/// Where the highest is, the first of equals; nowhere if none is above −∞.
fn first_best(scores: impl Iterator<Item = f64>) -> Option<usize> {
    let (mut best, mut highest) = (None, f64::NEG_INFINITY);
    for (n, score) in scores.enumerate() {
        if score > highest {
            (best, highest) = (Some(n), score);
        }
    }
    best
}
