//! Tables against a solver that shares nothing with them but the rules: forwards, without symmetry.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use surakarta_game::{Color, Position, Variant, points};
use surakarta_tablebase::{Class, Entry, Tables, Value, build};

fn tables(folder: &Path, variant: Variant, pieces: u32) -> Tables {
    build(folder, variant, pieces, &()).unwrap();
    Tables::open(folder).unwrap()
}

/// The subsets of a board with so many points, in the order of the sets as numbers.
fn subsets(variant: Variant, size: u8) -> Vec<u64> {
    let mut sets = vec![0u64];
    for _ in 0..size {
        // Each with one more point, above those that it has.
        let bits = || points(variant.board()).map(|point| point.bit());
        sets = sets
            .iter()
            .flat_map(|&set| bits().filter(move |&bit| bit > set).map(move |bit| set | bit))
            .collect();
    }
    sets.sort_unstable();
    sets
}

/// How many sets of k of n points there are.
fn binomial(n: usize, k: usize) -> usize {
    (0..k).fold(1, |sets, i| sets * n.saturating_sub(i) / (i + 1))
}

/// What a class is worth if play is counted after a number of plies without a capture, each position by
/// the places of both sides' sets; those that overlap stand there for nothing.
struct Naive {
    class: Class,
    entries: Vec<Entry>,
}

struct Solver {
    variant: Variant,
    /// By number of pieces.
    subsets: Vec<Vec<u64>>,
    /// [`binomial`] by points and size.
    binomials: Vec<Vec<usize>>,
    classes: HashMap<Class, Naive>,
}

impl Solver {
    fn place(&self, set: u64) -> usize {
        let places = points(set).map(|point| self.variant.point_index(point).unwrap());
        places.zip(1..).map(|(n, k)| self.binomials[n][k]).sum()
    }

    fn entry(&self, position: &Position) -> Entry {
        let class = Class::of(position).unwrap();
        let row = self.place(position.own()) * self.subsets[class.enemy as usize].len();
        self.classes[&class].entries[row + self.place(position.enemy())]
    }

    fn positions(&self, class: Class) -> impl ParallelIterator<Item = Option<Position>> + '_ {
        let [owns, enemies] = [class.own, class.enemy].map(|pieces| &self.subsets[pieces as usize]);
        owns.par_iter().flat_map_iter(move |&own| {
            enemies
                .iter()
                .map(move |&enemy| Position::new(self.variant, own, enemy, Color::Black, 0).ok())
        })
    }

    /// What it is worth with one more ply before play is counted.
    fn better(&self, position: &Position) -> Entry {
        let class = Class::of(position).unwrap();
        let counted = class.counted();
        let steps = &self.classes[&class.turned()].entries;
        let row = self.place(position.enemy()) * self.subsets[class.own as usize].len();
        let mut best: Option<(Value, u8)> = None;
        position.for_each_move(|mv| {
            let after = position.after(mv);
            let (value, plies) = match position.is_capture(mv) {
                true if after.own() == 0 => (Value::Win, 1),
                true => (self.entry(&after).value.opposite(), 1),
                false => {
                    let entry = steps[row + self.place(after.enemy())];
                    (entry.value.opposite(), entry.plies.map_or(0, |plies| plies + 1))
                }
            };
            let is_better = best.is_none_or(|(known, known_plies)| {
                let sooner =
                    if value > counted { plies < known_plies } else { plies > known_plies };
                value > known || value == known && sooner
            });
            if is_better {
                best = Some((value, plies));
            }
        });
        match best {
            Some((value, plies)) if value != counted => Entry { value, plies: Some(plies) },
            _ => Entry { value: counted, plies: None },
        }
    }

    /// Solves classes that lead to each other by steps and to solved ones by captures.
    fn solve(&mut self, classes: &[Class]) {
        for &class in classes {
            let counted = Entry { value: class.counted(), plies: None };
            let entries = vec![counted; self.positions(class).count()];
            self.classes.insert(class, Naive { class, entries });
        }
        loop {
            let next: Vec<Naive> = classes
                .iter()
                .map(|&class| {
                    let counted = Entry { value: class.counted(), plies: None };
                    let entries =
                        self.positions(class).map(|p| p.map_or(counted, |p| self.better(&p)));
                    Naive { class, entries: entries.collect() }
                })
                .collect();
            let same = next.iter().all(|naive| self.classes[&naive.class].entries == naive.entries);
            if same {
                return;
            }
            self.classes.extend(next.into_iter().map(|naive| (naive.class, naive)));
        }
    }
}

fn every_entry_is_that_of_the_forward_solver(variant: Variant, pieces: u32) {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables(folder.path(), variant, pieces);
    let sizes = 0..pieces as usize + 1;
    let binomials = (0..variant.points()).map(|n| sizes.clone().map(|k| binomial(n, k)).collect());
    let mut solver = Solver {
        variant,
        subsets: sizes.clone().map(|size| subsets(variant, size as u8)).collect(),
        binomials: binomials.collect(),
        classes: HashMap::new(),
    };
    for class in Class::up_to(pieces).filter(|class| class.own <= class.enemy) {
        let pair = if class == class.turned() { vec![class] } else { vec![class, class.turned()] };
        solver.solve(&pair);
        for class in pair {
            let wrong = solver
                .positions(class)
                .flatten()
                .find_any(|position| tables.probe(position) != Some(solver.entry(position)));
            if let Some(position) = wrong {
                let [found, expected] = [tables.probe(&position), Some(solver.entry(&position))];
                panic!("{variant} {class} {position}: {found:?} {expected:?}");
            }
        }
    }
}

#[test]
fn standard_up_to_five_pieces() {
    every_entry_is_that_of_the_forward_solver(Variant::Standard, 5);
}

#[test]
fn the_other_variants_up_to_three_pieces() {
    for variant in Variant::ALL {
        every_entry_is_that_of_the_forward_solver(variant, 3);
    }
}

#[test]
fn rural_up_to_four_pieces() {
    every_entry_is_that_of_the_forward_solver(Variant::Rural, 4);
}
