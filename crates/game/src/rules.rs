//! Rule sets: when a game ends and who has won.

use std::fmt;
use std::str::FromStr;

use crate::position::{Color, Position};

/// What happens when a position occurs again with the same side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repetition {
    /// Nothing.
    Allowed,
    /// The game ends when a position has occurred this many times, 2 or more.
    Ends(u8),
    /// A move to a position that has occurred is illegal.
    Illegal,
}

/// A named set of endings with its parameters. It is written into every record and shard, as its
/// [`Display`](fmt::Display) shows it: `olympiad`, or `olympiad,no-capture=60` where a parameter
/// differs from the named set's own. `olympiad,repetition=illegal` plays as `no-repeat` does, but is
/// another set, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuleSet {
    name: &'static str,
    /// The rule of repetition.
    pub repetition: Repetition,
    /// The game ends after this many plies without a capture, 1 or more.
    pub no_capture: Option<u16>,
    /// The game ends after this many plies, 1 or more, as [`Position::ply`] counts them.
    pub ply_cap: Option<u16>,
    /// The game ends as soon as neither side, were it to move, has a capture, once a piece is gone:
    /// with fewer than 24 on the board, on the larger one fewer than 28.
    pub ends_without_captures: bool,
    /// Players may offer the end of the game, which is then counted.
    pub by_agreement: bool,
}

/// The rules of the Computer Olympiad: the default.
pub const OLYMPIAD: RuleSet = RuleSet {
    name: "olympiad",
    repetition: Repetition::Ends(2),
    no_capture: Some(50),
    ply_cap: None,
    ends_without_captures: false,
    by_agreement: false,
};

/// A third occurrence ends the game, as do 100 plies without a capture.
pub const THREEFOLD: RuleSet = RuleSet {
    name: "threefold",
    repetition: Repetition::Ends(3),
    no_capture: Some(100),
    ..OLYMPIAD
};

/// A move that repeats a position is illegal.
pub const NO_REPEAT: RuleSet =
    RuleSet { name: "no-repeat", repetition: Repetition::Illegal, ..OLYMPIAD };

/// The Chinese collegiate contest, as public programs read it.
pub const CONTEST: RuleSet = RuleSet {
    name: "contest",
    repetition: Repetition::Allowed,
    no_capture: Some(40),
    ply_cap: None,
    ends_without_captures: true,
    by_agreement: false,
};

/// The traditional game, which players end by agreement.
pub const AGREEMENT: RuleSet = RuleSet {
    name: "agreement",
    repetition: Repetition::Allowed,
    no_capture: None,
    ply_cap: Some(1000),
    ends_without_captures: false,
    by_agreement: true,
};

impl RuleSet {
    /// Every named rule set, the default first.
    pub const ALL: [RuleSet; 5] = [OLYMPIAD, THREEFOLD, NO_REPEAT, CONTEST, AGREEMENT];

    /// The name of the set, whatever its parameters.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl Default for RuleSet {
    fn default() -> Self {
        OLYMPIAD
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let named = RuleSet::ALL.iter().find(|set| set.name == self.name).unwrap_or(&OLYMPIAD);
        if self.repetition != named.repetition {
            match self.repetition {
                Repetition::Allowed => write!(f, ",repetition=allowed")?,
                Repetition::Illegal => write!(f, ",repetition=illegal")?,
                Repetition::Ends(times) => write!(f, ",repetition={times}")?,
            }
        }
        let limit = |n: Option<u16>| n.map_or("none".to_owned(), |n| n.to_string());
        if self.no_capture != named.no_capture {
            write!(f, ",no-capture={}", limit(self.no_capture))?;
        }
        if self.ply_cap != named.ply_cap {
            write!(f, ",ply-cap={}", limit(self.ply_cap))?;
        }
        let answer = |yes: bool| if yes { "yes" } else { "no" };
        if self.ends_without_captures != named.ends_without_captures {
            write!(f, ",ends-without-captures={}", answer(self.ends_without_captures))?;
        }
        if self.by_agreement != named.by_agreement {
            write!(f, ",by-agreement={}", answer(self.by_agreement))?;
        }
        Ok(())
    }
}

/// The text names no rule set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownRules {
    /// No such set.
    #[error(
        "`{0}` is not a rule set; the rule sets are: olympiad, threefold, no-repeat, contest, agreement"
    )]
    Name(String),
    /// No such parameter, or not a value for it.
    #[error(
        "`{0}` is not a parameter of rules with a value for it; write repetition=N (2 to 255, allowed or illegal), no-capture=N or ply-cap=N (1 to 65535, or none), ends-without-captures or by-agreement (yes or no)"
    )]
    Parameter(String),
    /// A parameter stands twice.
    #[error("`{0}` gives a parameter that stands before it; give it once")]
    Twice(String),
}

impl FromStr for RuleSet {
    type Err = UnknownRules;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let mut rules = *RuleSet::ALL
            .iter()
            .find(|set| set.name == name)
            .ok_or_else(|| UnknownRules::Name(name.to_owned()))?;
        let mut given = Vec::new();
        for part in parts {
            let error = || UnknownRules::Parameter(part.to_owned());
            let number = |value: &str, least: u16| -> Result<u16, _> {
                // `parse` alone would take a plus sign.
                let digits = value.bytes().all(|b| b.is_ascii_digit());
                value.parse().ok().filter(|n| digits && *n >= least).ok_or_else(error)
            };
            let limit = |value: &str| match value {
                "none" => Ok(None),
                _ => number(value, 1).map(Some),
            };
            let answer = |value: &str| match value {
                "yes" => Ok(true),
                "no" => Ok(false),
                _ => Err(error()),
            };
            let (key, value) = part.split_once('=').ok_or_else(error)?;
            match key {
                "repetition" => {
                    rules.repetition = match value {
                        "allowed" => Repetition::Allowed,
                        "illegal" => Repetition::Illegal,
                        _ => Repetition::Ends(number(value, 2)?.try_into().map_err(|_| error())?),
                    }
                }
                "no-capture" => rules.no_capture = limit(value)?,
                "ply-cap" => rules.ply_cap = limit(value)?,
                "ends-without-captures" => rules.ends_without_captures = answer(value)?,
                "by-agreement" => rules.by_agreement = answer(value)?,
                _ => return Err(error()),
            }
            if given.contains(&key) {
                return Err(UnknownRules::Twice(part.to_owned()));
            }
            given.push(key);
        }
        Ok(rules)
    }
}

/// Why a game is over. The first six follow from the rules, in the order in which they are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Ending {
    /// A side has no piece left.
    CapturedAll = 0,
    /// Neither side had a capture (rule set `contest`).
    NoCaptureLeft = 1,
    /// A position occurred too often.
    Repetition = 2,
    /// Too many plies without a capture.
    NoProgress = 3,
    /// The side to move had no legal move.
    NoMoves = 4,
    /// The game reached its cap of plies.
    PlyCap = 5,
    /// A player resigned.
    Resignation = 6,
    /// The players agreed to count.
    Agreement = 7,
    /// The arena stopped the game and gave the result.
    Adjudicated = 8,
    /// A program made an illegal move.
    IllegalMove = 9,
    /// A player ran out of time.
    Time = 10,
    /// A program crashed.
    Crash = 11,
}

impl Ending {
    /// Every ending, in the order of their numbers.
    pub const ALL: [Ending; 12] = [
        Ending::CapturedAll,
        Ending::NoCaptureLeft,
        Ending::Repetition,
        Ending::NoProgress,
        Ending::NoMoves,
        Ending::PlyCap,
        Ending::Resignation,
        Ending::Agreement,
        Ending::Adjudicated,
        Ending::IllegalMove,
        Ending::Time,
        Ending::Crash,
    ];

    /// The name used in records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Ending::CapturedAll => "captured-all",
            Ending::NoCaptureLeft => "no-capture-left",
            Ending::Repetition => "repetition",
            Ending::NoProgress => "no-progress",
            Ending::NoMoves => "no-moves",
            Ending::PlyCap => "ply-cap",
            Ending::Resignation => "resignation",
            Ending::Agreement => "agreement",
            Ending::Adjudicated => "adjudicated",
            Ending::IllegalMove => "illegal-move",
            Ending::Time => "time",
            Ending::Crash => "crash",
        }
    }

    /// Whether the rules alone decide it: a replay of the moves must end so.
    pub const fn is_by_rule(self) -> bool {
        (self as u8) <= Ending::PlyCap as u8
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no ending.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an ending of a game")]
pub struct UnknownEnding(String);

impl FromStr for Ending {
    type Err = UnknownEnding;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Ending::ALL.into_iter().find(|ending| ending.name() == text);
        found.ok_or_else(|| UnknownEnding(text.to_owned()))
    }
}

/// Who has won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// This colour has won.
    Win(Color),
    /// Nobody has.
    Draw,
}

impl Outcome {
    /// The result of counting the pieces: more of them wins.
    pub const fn by_count(position: &Position) -> Outcome {
        let (black, white) = (position.count(Color::Black), position.count(Color::White));
        if black > white {
            Outcome::Win(Color::Black)
        } else if white > black {
            Outcome::Win(Color::White)
        } else {
            Outcome::Draw
        }
    }

    /// 1 for a win, 0 for a draw, −1 for a loss, seen by `color`.
    pub fn value_for(self, color: Color) -> i8 {
        match self {
            Outcome::Draw => 0,
            Outcome::Win(winner) if winner == color => 1,
            Outcome::Win(_) => -1,
        }
    }
}

/// A finished game's ending and outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameResult {
    /// Why it is over.
    pub ending: Ending,
    /// Who has won.
    pub outcome: Outcome,
}
