//! Tables as they are used: a folder of files, one a class.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use surakarta_game::{Move, Outcome, Position, Repetition, RuleSet, Variant};
use xxhash_rust::xxh3::xxh3_64;

use crate::class::{Class, Entry, MAX_PIECES, Value};
use crate::index::Index;
use crate::table::{Table, TableError};

const SIDES: usize = MAX_PIECES as usize;

/// The tables of a folder, of any variants.
#[derive(Debug)]
pub struct Tables {
    folder: PathBuf,
    /// By variant, pieces of the side to move, and pieces of the other.
    tables: Vec<Option<Table>>,
    /// By variant.
    longest: [u8; Variant::ALL.len()],
}

impl Tables {
    /// Opens every table of a folder and reads each once, to check it. What is not called `*.table` is
    /// passed over.
    ///
    /// # Errors
    /// If the folder cannot be read, has no tables, one of them is damaged, or one is missing that moves
    /// from the others lead to.
    pub fn open(folder: &Path) -> Result<Tables, TableError> {
        let tables = Tables::found(folder)?;
        if tables.tables.iter().all(Option::is_none) {
            return Err(TableError::Empty { path: folder.to_owned() });
        }
        for table in tables.tables.iter().flatten() {
            let (variant, class) = (table.variant(), table.class());
            for class in [Some(class.turned()), class.after_capture()].into_iter().flatten() {
                if tables.table(variant, class).is_none() {
                    return Err(TableError::Missing { folder: folder.to_owned(), variant, class });
                }
            }
        }
        Ok(tables)
    }

    /// As [`open`](Self::open), and any tables may be missing.
    pub(crate) fn found(folder: &Path) -> Result<Tables, TableError> {
        if !folder.is_dir() {
            return Err(TableError::NoFolder { path: folder.to_owned() });
        }
        let io = |source| TableError::Io { path: folder.to_owned(), action: "read", source };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.extension().is_some_and(|extension| extension == "table") {
                paths.push(path);
            }
        }
        paths.sort();
        let opened: Vec<Table> =
            paths.par_iter().map(|path| Table::open(path)).collect::<Result<_, _>>()?;
        let mut tables = Tables {
            folder: folder.to_owned(),
            tables: (0..Variant::ALL.len() * SIDES * SIDES).map(|_| None).collect(),
            longest: [0; Variant::ALL.len()],
        };
        for table in opened {
            tables.add(table);
        }
        Ok(tables)
    }

    pub(crate) fn add(&mut self, table: Table) {
        let longest = &mut self.longest[table.variant() as usize];
        *longest = table.longest().max(*longest);
        let place = place(table.variant(), table.class());
        self.tables[place] = Some(table);
    }

    pub(crate) fn table(&self, variant: Variant, class: Class) -> Option<&Table> {
        self.tables[place(variant, class)].as_ref()
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The classes of a variant that there are tables of, in the order in which they were solved.
    pub fn classes(&self, variant: Variant) -> impl Iterator<Item = Class> {
        Class::up_to(MAX_PIECES).filter(move |&class| self.table(variant, class).is_some())
    }

    /// Up to how many pieces there is a table of every class of a variant: 0 or 2 and more.
    pub fn pieces(&self, variant: Variant) -> u32 {
        let missing = Class::up_to(MAX_PIECES).find(|&c| self.table(variant, c).is_none());
        let whole = missing.map_or(MAX_PIECES, |class| class.pieces() - 1);
        if whole < 2 { 0 } else { whole }
    }

    /// The numbers of a class that there is a table of.
    pub fn index(&self, variant: Variant, class: Class) -> Option<&Index> {
        Some(self.table(variant, class)?.index())
    }

    /// Bytes of the files of a variant.
    pub fn bytes(&self, variant: Variant) -> u64 {
        self.of(variant).map(Table::bytes).sum()
    }

    /// What tells these tables of a variant from others, for those who note what they have used: how many
    /// pieces they know, and a hash of what is in them.
    pub fn identity(&self, variant: Variant) -> String {
        let sums: Vec<u8> = self.of(variant).flat_map(|t| t.checksum().to_le_bytes()).collect();
        format!("up to {} pieces, {:016x}", self.pieces(variant), xxh3_64(&sums))
    }

    fn of(&self, variant: Variant) -> impl Iterator<Item = &Table> {
        self.tables.iter().flatten().filter(move |table| table.variant() == variant)
    }

    /// Opens what the first lookup in each class would: half a second a class of seven pieces.
    pub fn warm_up(&self) {
        self.tables.par_iter().flatten().for_each(|table| _ = table.index());
    }

    /// What the tables say of a position, whatever its counters and history; `None` without a table of
    /// its class.
    #[inline]
    pub fn probe(&self, position: &Position) -> Option<Entry> {
        let class = Class::of(position)?;
        Some(self.table(position.variant(), class)?.entry(position))
    }

    /// The legal moves of a position with what they lead to, seen by the side that makes them, the best
    /// first: what is forced soon before what is forced late, and what is suffered late before what is
    /// suffered soon. The plies count the move itself, so that a capture that forces a value takes one. Where
    /// no table holds the position, only moves that lead into one are there.
    pub fn moves(&self, position: &Position) -> Vec<(Move, Entry)> {
        let Some(class) = Class::of(position) else { return Vec::new() };
        let counted = class.counted();
        let mut moves = Vec::new();
        position.for_each_move(|mv| {
            let after = position.after(mv);
            let taken = position.is_capture(mv);
            let entry = match after.own() {
                0 => Some(Entry { value: Value::Loss, plies: None }),
                _ => self.probe(&after),
            };
            moves.extend(entry.map(|entry| {
                let value = entry.value.opposite();
                let plies = if taken { Some(0) } else { entry.plies };
                let plies = plies.filter(|_| value != counted).map(|plies| plies + 1);
                (mv, Entry { value, plies })
            }));
        });
        moves.sort_by_key(|(_, Entry { value, plies })| {
            let plies = plies.unwrap_or(0) as i32;
            (std::cmp::Reverse(*value), if *value > counted { plies } else { -plies })
        });
        moves
    }

    /// The best moves of both sides up to the capture that forces the value of a position: as many as its
    /// entry has plies, and none where the value is the count.
    pub fn line(&self, position: &Position) -> Vec<Move> {
        let (mut position, mut line) = (*position, Vec::new());
        while let Some(plies) = self.probe(&position).and_then(|entry| entry.plies)
            && let Some(&(best, _)) = self.moves(&position).first()
        {
            line.push(best);
            if plies == 1 {
                break;
            }
            position = position.after(best);
        }
        line
    }

    /// The value of a position where the tables prove it for a game under these rules, as it stands.
    ///
    /// They do where the game can't go on forever and is then counted, and every forced capture comes
    /// before the rules end the game:
    ///
    /// - just after a capture, as nothing that was before can repeat, and the side that forces never
    ///   comes back to where it was, since each of its moves brings the capture nearer;
    /// - at any time where the value is the count: the side that it contents needs no capture, and an
    ///   end that comes early is counted, too.
    pub fn prove(&self, position: &Position, rules: &RuleSet) -> Option<Value> {
        if !self.holds_under(rules, position.variant()) {
            return None;
        }
        let entry = self.probe(position)?;
        (position.quiet_plies() == 0 || entry.plies.is_none()).then_some(entry.value)
    }

    /// The outcome of a game that goes on in this position, where the tables prove it.
    pub fn outcome(&self, position: &Position, rules: &RuleSet) -> Option<Outcome> {
        let side = position.side_to_move();
        Some(match self.prove(position, rules)? {
            Value::Draw => Outcome::Draw,
            Value::Win => Outcome::Win(side),
            Value::Loss => Outcome::Win(side.other()),
        })
    }

    /// Whether [`prove`](Self::prove) proves anything under these rules: `olympiad`, `threefold` and what
    /// is like them. Where a move can be illegal by what was before, or the game ends at a ply or by
    /// agreement, as soon as nobody has a capture, or without captures before twice the
    /// [longest](Self::longest) line is over, it does not.
    pub fn holds_under(&self, rules: &RuleSet, variant: Variant) -> bool {
        let ends = match rules.repetition {
            Repetition::Ends(_) => true,
            Repetition::Allowed => rules.no_capture.is_some(),
            Repetition::Illegal => false,
        };
        ends && rules.ply_cap.is_none()
            && !rules.ends_without_captures
            && !rules.by_agreement
            // A side that is forced to a draw may turn to a loss that takes as long again.
            && rules.no_capture.is_none_or(|plies| plies >= 2 * self.longest(variant) as u16)
    }

    /// The most plies until a forced capture, of all positions in the tables of a variant.
    pub fn longest(&self, variant: Variant) -> u8 {
        self.longest[variant as usize]
    }

    /// Derives the entry of a position from those of the positions after its moves.
    /// `None` if one of them is in no table.
    pub fn derive(&self, position: &Position) -> Option<Entry> {
        let class = Class::of(position)?;
        let counted = class.counted();
        let mut all = 0;
        position.for_each_move(|_| all += 1);
        let moves = self.moves(position);
        let Some(&(_, best)) = moves.first() else {
            return (all == 0).then_some(Entry { value: counted, plies: None });
        };
        (moves.len() == all).then_some(best)
    }
}

fn place(variant: Variant, class: Class) -> usize {
    (variant as usize * SIDES + class.own as usize) * SIDES + class.enemy as usize
}
