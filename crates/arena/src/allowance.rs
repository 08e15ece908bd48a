//! How long players may think, and the clocks that hold them to it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use surakarta_game::Color;
use surakarta_search::{Clock, Limits};

/// What the arena grants a player, beside the limits of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// Limits of each move. The clock in here is not used.
    pub limits: Limits,
    /// The time for the whole game.
    pub clock: Option<TimeControl>,
    /// By how much a player may overstep a limit of time before it loses by it: what the system may
    /// take from it.
    pub margin: Duration,
}

/// The margin where nothing else is asked for.
pub const DEFAULT_MARGIN: Duration = Duration::from_millis(50);

impl Default for Allowance {
    /// No limits beside the players' own.
    fn default() -> Allowance {
        Allowance { limits: Limits::default(), clock: None, margin: DEFAULT_MARGIN }
    }
}

impl Allowance {
    /// Whether the clock decides what is played: such games cannot be reproduced.
    pub fn is_timed(&self) -> bool {
        self.clock.is_some() || self.limits.time.is_some()
    }
}

impl fmt::Display for Allowance {
    /// `nodes=1000, clock=10+0.1 (margin 50 ms)`; empty if nothing is granted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { simulations, nodes, depth, time, clock: _ } = self.limits;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(simulations.map(|n| format!("sims={n}")));
        parts.extend(nodes.map(|n| format!("nodes={n}")));
        parts.extend(depth.map(|n| format!("depth={n}")));
        parts.extend(time.map(|time| format!("ms={}", time.as_secs_f64() * 1000.0)));
        parts.extend(self.clock.map(|clock| format!("clock={clock}")));
        f.write_str(&parts.join(", "))?;
        if self.is_timed() { write!(f, " (margin {} ms)", self.margin.as_millis()) } else { Ok(()) }
    }
}

/// The time for a whole game: `10+0.1` is ten seconds, and a tenth of one more after each move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// What a player has at the beginning.
    pub base: Duration,
    /// What it gets back after each of its moves.
    pub increment: Duration,
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.base.as_secs_f64(), self.increment.as_secs_f64())
    }
}

impl FromStr for TimeControl {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeControl, String> {
        let seconds = |text: &str| {
            let known = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let number: f64 = text.parse().ok().filter(|_| known)?;
            Duration::try_from_secs_f64(number).ok().filter(|time| time.as_secs() <= 1_000_000)
        };
        let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
        match (seconds(base), seconds(increment)) {
            (Some(base), Some(increment)) if !base.is_zero() => Ok(TimeControl { base, increment }),
            _ => Err(format!(
                "`{text}` is not a clock; write seconds for the game and for each move, as in 10+0.1"
            )),
        }
    }
}

/// The clocks of one game.
pub(crate) struct Clocks {
    allowances: [Allowance; 2],
    remaining: [Duration; 2],
}

impl Clocks {
    /// Both full; Black's allowance first.
    pub(crate) fn new(allowances: [Allowance; 2]) -> Clocks {
        let full = |allowance: Allowance| allowance.clock.map_or(Duration::MAX, |c| c.base);
        Clocks { allowances, remaining: allowances.map(full) }
    }

    /// What a player is told when it has to move.
    pub(crate) fn limits(&self, color: Color) -> Limits {
        let allowance = &self.allowances[color as usize];
        let of = |a: Allowance| a.clock.map_or(Duration::ZERO, |clock| clock.increment);
        let increment = self.allowances.map(of);
        let clock = allowance.clock.map(|_| Clock { remaining: self.remaining, increment });
        Limits { clock, ..allowance.limits }
    }

    /// Takes the time of a move off.
    ///
    /// # Errors
    /// If it was too long, a sentence that says by how much.
    pub(crate) fn stop(&mut self, color: Color, took: Duration) -> Result<(), String> {
        let Allowance { limits, clock, margin } = self.allowances[color as usize];
        let left = &mut self.remaining[color as usize];
        let allowed = [clock.map(|_| *left), limits.time].into_iter().flatten().min();
        if let Some(allowed) = allowed.filter(|allowed| took > *allowed + margin) {
            return Err(format!(
                "took {:.1} ms where {:.1} ms were left, and {} ms of margin",
                took.as_secs_f64() * 1000.0,
                allowed.as_secs_f64() * 1000.0,
                margin.as_millis()
            ));
        }
        if let Some(clock) = clock {
            *left = left.saturating_sub(took) + clock.increment;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_control_reads_as_it_is_written() {
        for text in ["10+0.1", "0.25+0", "60+1.5"] {
            assert_eq!(text.parse::<TimeControl>().unwrap().to_string(), text);
        }
        assert_eq!("5".parse::<TimeControl>().unwrap().to_string(), "5+0");
        for text in ["", "0", "0+1", "-5", "5+", "1e9", "nan", "inf", "5+-1", "10+0.1+1", "+5"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_clock_runs_down_and_gets_its_increment() {
        let ms = Duration::from_millis;
        let clock = Some(TimeControl { base: ms(100), increment: ms(10) });
        let allowance = Allowance { clock, margin: ms(5), ..Allowance::default() };
        let mut clocks = Clocks::new([allowance, Allowance::default()]);
        assert_eq!(clocks.limits(Color::White), Limits::default());
        assert_eq!(clocks.stop(Color::White, ms(9_000)), Ok(()));
        assert_eq!(clocks.stop(Color::Black, ms(60)), Ok(()));
        let left = |clocks: &Clocks| clocks.limits(Color::Black).clock.unwrap().remaining[0];
        assert_eq!(left(&clocks), ms(50));
        assert!(clocks.stop(Color::Black, ms(56)).is_err());
        assert_eq!(clocks.stop(Color::Black, ms(55)), Ok(()), "within the margin");
        assert_eq!(left(&clocks), ms(10));
    }

    #[test]
    fn a_limit_of_each_move_is_enforced_too() {
        let ms = Duration::from_millis;
        let limits = Limits { time: Some(ms(20)), ..Limits::default() };
        let allowance = Allowance { limits, margin: ms(5), ..Allowance::default() };
        let mut clocks = Clocks::new([allowance; 2]);
        assert_eq!(clocks.limits(Color::Black), limits);
        assert_eq!(clocks.stop(Color::Black, ms(25)), Ok(()));
        let late = clocks.stop(Color::White, ms(26)).unwrap_err();
        assert_eq!(late, "took 26.0 ms where 20.0 ms were left, and 5 ms of margin");
    }
}
