//! A twin that is slow and obvious: states in boxes, values seen by Black in double precision, and
//! nothing kept that can be worked out anew.

use rand::RngExt;
use surakarta_game::{Color, Game, Move, OLYMPIAD, Position};
use surakarta_search::descent::{Method, StateValue};
use surakarta_search::{Choice, DescentConfig, DescentPlayer, Limits, Player, stream};

use crate::script::{Script, coarse, endgame, noise, player, random_ply, simulations};

/// What is known of a state, seen by Black.
#[derive(Clone, Copy)]
struct Known {
    completion: i32,
    value: f64,
    resolved: bool,
}

struct State {
    game: Game,
    visits: u32,
    /// Of a state that is over or has no children yet.
    own: Known,
    /// Empty until it is opened.
    actions: Vec<Action>,
}

struct Action {
    mv: Move,
    visits: u32,
    state: Box<State>,
}

struct Twin {
    method: Method,
    margin: f64,
    script: Script,
}

impl Twin {
    fn state(&self, game: Game) -> State {
        let position = *game.position();
        let black = |value: f64| if game.side_to_move() == Color::Black { value } else { -value };
        let count = |color| position.count(color) as f64;
        let blend = |value: f64, margin: f64| (value + self.margin * margin) / (1.0 + self.margin);
        let own = match game.result() {
            Some(result) => {
                let completion = result.outcome.value_for(Color::Black) as i32;
                let margin = count(Color::Black) - count(Color::White);
                let margin = margin / position.variant().pieces() as f64;
                Known { completion, value: blend(completion as f64, margin), resolved: true }
            }
            None => {
                let outlook = (self.script)(&position);
                let value = outlook.wdl[0] as f64 - outlook.wdl[2] as f64;
                let value = black(blend(value, outlook.margin as f64));
                Known { completion: 0, value, resolved: false }
            }
        };
        State { game, visits: 0, own, actions: Vec::new() }
    }

    fn open(&self, state: &mut State) {
        for mv in state.game.legal_moves() {
            let mut after = state.game.clone();
            after.play(mv).unwrap();
            let state_after = Box::new(self.state(after));
            state.actions.push(Action { mv, visits: 0, state: state_after });
        }
    }

    fn iterate(&self, state: &mut State) {
        state.visits += 1;
        let new = state.actions.is_empty();
        if new {
            self.open(state);
        }
        if new && self.method == Method::Ubfm || known(state).resolved {
            return;
        }
        let side = state.game.side_to_move();
        let at = pick(
            side,
            &candidates(state),
            |c| !c.known.resolved,
            |c| {
                let visits = c.visits as f64;
                let rarely = if side == Color::Black { -visits } else { visits };
                (c.known.completion, c.known.value, rarely)
            },
        );
        let action = &mut state.actions[at.unwrap()];
        action.visits += 1;
        self.iterate(&mut action.state);
    }

    /// The place of the move to play.
    fn decide(&self, state: &State) -> usize {
        let side = state.game.side_to_move();
        let candidates = candidates(state);
        if self.method == Method::Descent {
            return best(side, &candidates, |_| true).unwrap();
        }
        let safest = pick(
            side,
            &candidates,
            |c| !c.known.resolved,
            |c| {
                let visits = c.visits as f64;
                (0, if side == Color::Black { visits } else { -visits }, c.known.value)
            },
        );
        let proven = best(side, &candidates, |c| c.known.resolved);
        let (Some(safest), Some(proven)) = (safest, proven) else {
            return safest.or(proven).unwrap();
        };
        let sign = if side == Color::Black { 1 } else { -1 };
        let of = |at: usize| candidates[at].known;
        let better = match sign * of(proven).completion {
            0 => sign as f64 * of(proven).value > sign as f64 * of(safest).value,
            result => result > 0,
        };
        if better { proven } else { safest }
    }

    fn search(&self, root: &mut State, simulations: u32) {
        while root.visits < simulations && !known(root).resolved {
            self.iterate(root);
        }
    }
}

/// What is known of an action.
struct Candidate {
    known: Known,
    visits: u32,
}

fn candidates(state: &State) -> Vec<Candidate> {
    let candidate = |a: &Action| Candidate { known: known(&a.state), visits: a.visits };
    state.actions.iter().map(candidate).collect()
}

fn known(state: &State) -> Known {
    let candidates = candidates(state);
    let Some(best) = best(state.game.side_to_move(), &candidates, |_| true) else {
        return state.own;
    };
    let best = candidates[best].known;
    let all = candidates.iter().all(|candidate| candidate.known.resolved);
    Known { resolved: best.completion != 0 || all, ..best }
}

/// The best action by completion, value and visits.
fn best(side: Color, of: &[Candidate], among: impl Fn(&Candidate) -> bool) -> Option<usize> {
    pick(side, of, among, |c| {
        let visits = c.visits as f64;
        let often = if side == Color::Black { visits } else { -visits };
        (c.known.completion, c.known.value, often)
    })
}

type Rank = (i32, f64, f64);

/// Black takes the highest rank, White the lowest; the first of equals.
fn pick(
    side: Color,
    of: &[Candidate],
    among: impl Fn(&Candidate) -> bool,
    rank: impl Fn(&Candidate) -> Rank,
) -> Option<usize> {
    let mut found: Option<(usize, Rank)> = None;
    for (at, candidate) in of.iter().enumerate().filter(|(_, candidate)| among(candidate)) {
        let rank = rank(candidate);
        let better = found.is_none_or(|(_, other)| match side {
            Color::Black => rank > other,
            Color::White => rank < other,
        });
        if better {
            found = Some((at, rank));
        }
    }
    found.map(|(at, _)| at)
}

/// Every state that was opened, each before those below it.
fn states(state: &State, depth: u32, into: &mut Vec<StateValue>) {
    if state.actions.is_empty() {
        return;
    }
    let position = *state.game.position();
    let (value, proven) = seen_by(position.side_to_move(), known(state));
    into.push(StateValue { position, depth, visits: state.visits, value, proven });
    state.actions.iter().for_each(|action| states(&action.state, depth + 1, into));
}

fn seen_by(color: Color, known: Known) -> (f32, Option<i8>) {
    let sign = if color == Color::Black { 1 } else { -1 };
    let proven = known.resolved.then_some((sign * known.completion) as i8);
    ((sign as f64 * known.value) as f32, proven)
}

fn assert_agree(twin: &Twin, root: &State, player: &DescentPlayer, choice: &Choice) {
    let me = root.game.side_to_move();
    let mut expected = Vec::new();
    states(root, 0, &mut expected);
    let found: Vec<StateValue> = player.states().collect();
    assert_eq!(found, expected, "{:?} {:?}", root.game.start(), root.game.moves());
    assert_eq!(player.moves().count(), root.actions.len());
    for (found, action) in player.moves().zip(&root.actions) {
        let (value, proven) = seen_by(me, known(&action.state));
        assert_eq!((found.mv, found.visits), (action.mv, action.visits));
        assert_eq!((found.value, found.proven), (value, proven));
    }
    let decided = &root.actions[twin.decide(root)];
    assert_eq!(choice.mv, decided.mv, "{:?} {:?}", root.game.start(), root.game.moves());
    assert_eq!(choice.value, Some(seen_by(me, known(&decided.state)).0));
    // The line is what the value comes from.
    let (mut line, mut state) = (vec![decided.mv], &decided.state);
    while let Some(at) = best(state.game.side_to_move(), &candidates(state), |_| true) {
        line.push(state.actions[at].mv);
        state = &state.actions[at].state;
    }
    assert_eq!(choice.line, line);
    assert_eq!(seen_by(me, state.own).0, choice.value.unwrap());
}

/// Takes the subtree of a move, if it has been opened.
fn follow(root: State, mv: Move) -> Option<State> {
    let action = root.actions.into_iter().find(|action| action.mv == mv)?;
    Some(*action.state).filter(|state| !state.actions.is_empty())
}

#[test]
fn it_searches_as_its_twin_does() {
    let rng = &mut stream(1, [0; 3]);
    let (mut compared, mut kept, mut proven, mut drawn, mut deepest) = (0, 0, 0, 0, 0);
    for n in 0..300 {
        let method = Method::ALL[n % 2];
        let script: Script = if n % 3 == 0 { noise } else { coarse };
        // Halving is exact: both find the same to the bit.
        let margin = if n % 5 == 0 { 1.0 } else { 0.0 };
        let mut game = match n % 10 {
            9 => Game::from_position(OLYMPIAD, Position::default()),
            _ => endgame(3, rng.random_range(2..10), rng),
        };
        let twin = Twin { method, margin, script };
        let config = DescentConfig { method, margin_weight: margin as f32, ..Default::default() };
        let mut player = player(config, script);
        let mut root = twin.state(game.clone());
        // Opening a line to the end of a long game takes the twin long.
        let most = if game.position().occupied().count_ones() > 6 { 2 } else { 16 };
        for _ in 0..3 {
            let budget = root.visits + rng.random_range(1..=most);
            twin.search(&mut root, budget);
            let choice = player.choose(&game, &simulations(budget)).unwrap();
            assert_agree(&twin, &root, &player, &choice);
            compared += 1;
            proven += player.states().filter(|state| state.proven.is_some()).count();
            drawn += player.states().filter(|state| state.proven == Some(0)).count();
            deepest = deepest.max(choice.work.depth);
            game.play(choice.mv).unwrap();
            random_ply(&mut game, rng);
            if game.result().is_some() {
                break;
            }
            let moves = &game.moves()[root.game.moves().len()..];
            let moved = follow(root, moves[0]).and_then(|state| follow(state, moves[1]));
            kept += moved.is_some() as u32;
            root = moved.unwrap_or_else(|| twin.state(game.clone()));
        }
    }
    assert!(compared > 500 && kept > 50, "{compared} {kept}");
    assert!(proven > 500 && drawn > 50 && deepest > 20, "{proven} {drawn} {deepest}");
    // A limit that is reached already changes nothing.
    let mut player = player(DescentConfig::default(), noise);
    let game = Game::new(OLYMPIAD);
    let first = player.choose(&game, &simulations(50)).unwrap();
    let again = player.choose(&game, &simulations(20)).unwrap();
    assert_eq!((again.mv, again.value, again.line), (first.mv, first.value, first.line));
    assert_eq!((first.work.simulations, again.work.simulations), (50, 0));
    assert_ne!(player.choose(&game, &Limits::default()).unwrap().work.simulations, 0);
}
