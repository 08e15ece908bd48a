//! Material classes, and what a position of one is worth.

use std::fmt;

use surakarta_game::Position;

/// The most pieces that tables can hold, both sides together.
pub const MAX_PIECES: u32 = 8;

/// How many pieces the side to move and its opponent have, one or more each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    /// Pieces of the side to move.
    pub own: u8,
    /// Pieces of the other side.
    pub enemy: u8,
}

impl Class {
    /// The class of a position, if both sides have a piece and together no more than [`MAX_PIECES`].
    pub fn of(position: &Position) -> Option<Class> {
        let [own, enemy] = [position.own(), position.enemy()].map(u64::count_ones);
        let held = own > 0 && enemy > 0 && own + enemy <= MAX_PIECES;
        held.then_some(Class { own: own as u8, enemy: enemy as u8 })
    }

    /// Pieces of both sides.
    pub const fn pieces(self) -> u32 {
        self.own as u32 + self.enemy as u32
    }

    /// The class after a move that captures nothing.
    #[must_use]
    pub const fn turned(self) -> Class {
        Class { own: self.enemy, enemy: self.own }
    }

    /// The class after a capture; `None` after that of the last piece.
    #[must_use]
    pub const fn after_capture(self) -> Option<Class> {
        match self.enemy {
            0 | 1 => None,
            enemy => Some(Class { own: enemy - 1, enemy: self.own }),
        }
    }

    /// What play without a capture comes to: the count of pieces, seen by the side to move.
    pub const fn counted(self) -> Value {
        if self.own > self.enemy {
            Value::Win
        } else if self.own < self.enemy {
            Value::Loss
        } else {
            Value::Draw
        }
    }

    /// Every class of up to `pieces` pieces: those of fewer pieces first, and each beside its
    /// [turned](Self::turned) one, the smaller side to move first.
    pub fn up_to(pieces: u32) -> impl Iterator<Item = Class> {
        (2..=pieces).flat_map(|pieces| {
            (1..=pieces / 2).flat_map(move |own| {
                let class = Class { own: own as u8, enemy: (pieces - own) as u8 };
                let turned = Some(class.turned()).filter(|&turned| turned != class);
                std::iter::once(class).chain(turned)
            })
        })
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.own, self.enemy)
    }
}

/// A result, seen by the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// The opponent wins.
    Loss,
    /// Nobody wins.
    Draw,
    /// The side to move wins.
    Win,
}

impl Value {
    /// The same result, seen by the other side.
    #[must_use]
    pub const fn opposite(self) -> Value {
        match self {
            Value::Loss => Value::Win,
            Value::Draw => Value::Draw,
            Value::Win => Value::Loss,
        }
    }

    /// −1, 0 or 1.
    pub const fn sign(self) -> i8 {
        match self {
            Value::Loss => -1,
            Value::Draw => 0,
            Value::Win => 1,
        }
    }

    /// `loss`, `draw` or `win`.
    pub const fn name(self) -> &'static str {
        match self {
            Value::Loss => "loss",
            Value::Draw => "draw",
            Value::Win => "win",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a table says of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The result under best play, seen by the side to move.
    pub value: Value,
    /// Plies until a capture, where the value differs from the [count](Class::counted) of the pieces:
    /// the side that the count does not content forces it as soon as it can, and the other puts it
    /// off. `None` where the value is the count, which nobody can better.
    pub plies: Option<u8>,
}

/// An [`Entry`] as a byte: 0 where the value is the count, otherwise twice the plies less one for the
/// worse of the two other values, twice the plies for the better, seen by the side that forces it. Of
/// sides with the same number of pieces the worse value is the loss of the side to move, and the
/// better its win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Code(pub(crate) u8);

impl Code {
    /// Counted, or not known yet.
    pub(crate) const COUNTED: Code = Code(0);
    /// The most plies that fit.
    pub(crate) const MOST_PLIES: u8 = 127;

    /// A value that is not the count of the class, forced within these plies, 1 or more.
    pub(crate) const fn forced(class: Class, value: Value, plies: u8) -> Code {
        let better = match class.counted() {
            // The opponent forces: its win is this side's loss.
            Value::Win => matches!(value, Value::Loss),
            Value::Draw | Value::Loss => matches!(value, Value::Win),
        };
        Code(2 * plies - !better as u8)
    }

    pub(crate) const fn value(self, class: Class) -> Value {
        let counted = class.counted();
        if self.0 == 0 {
            return counted;
        }
        match (self.0.is_multiple_of(2), counted) {
            (true, Value::Win) => Value::Loss,
            (true, Value::Draw | Value::Loss) => Value::Win,
            (false, Value::Win | Value::Loss) => Value::Draw,
            (false, Value::Draw) => Value::Loss,
        }
    }

    /// 0 where the value is the count.
    pub(crate) const fn plies(self) -> u8 {
        self.0.div_ceil(2)
    }

    pub(crate) fn entry(self, class: Class) -> Entry {
        let plies = Some(self.plies()).filter(|&plies| plies != 0);
        Entry { value: self.value(class), plies }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_come_after_those_that_captures_lead_to() {
        let classes: Vec<Class> = Class::up_to(5).collect();
        let names: Vec<String> = classes.iter().map(ToString::to_string).collect();
        let expected = ["1-1", "1-2", "2-1", "1-3", "3-1", "2-2", "1-4", "4-1", "2-3", "3-2"];
        assert_eq!(names, expected);
        for (n, class) in classes.iter().enumerate() {
            if let Some(after) = class.after_capture() {
                assert!(classes[..n].contains(&after), "{class} {after}");
            }
        }
    }

    #[test]
    fn codes_hold_every_value_of_their_class() {
        for class in Class::up_to(MAX_PIECES) {
            assert_eq!(Code::COUNTED.value(class), class.counted());
            assert_eq!(Code::COUNTED.plies(), 0);
            let mut seen = std::collections::HashSet::from([Code::COUNTED]);
            for value in [Value::Loss, Value::Draw, Value::Win] {
                for plies in 1..=Code::MOST_PLIES {
                    if value != class.counted() {
                        let code = Code::forced(class, value, plies);
                        assert_eq!((code.value(class), code.plies()), (value, plies), "{class}");
                        assert!(seen.insert(code));
                    }
                }
            }
        }
    }
}
