//! Lost games are given up, some are played on, and what is wrong is counted.

mod support;

use support::{around, config, contents, games, header, pool, silent};
use surakarta_game::{Color, Ending, OLYMPIAD, Outcome};
use surakarta_net::{Batch as Leaves, Evaluator, EvaluatorError};
use surakarta_record::{GameRecord, Policy, SearchKind};
use surakarta_search::SearchConfig;
use surakarta_selfplay::{
    Batch, Beginnings, GivenUp, Played, Resign, Resignations, SelfplayConfig, Source,
};

const RULE: Resign = Resign { below: -0.3, plies: 3, soft: false, played_on: 0.0 };

/// Counts pieces, which is wrong often enough.
struct Counting;

impl Evaluator for Counting {
    fn evaluate(&mut self, batch: &mut Leaves) -> Result<(), EvaluatorError> {
        for at in 0..batch.len() {
            let (position, moves, policy, outlook) = batch.item_mut(at);
            policy.fill(1.0 / moves.len() as f32);
            let [own, enemy] =
                [position.own(), position.enemy()].map(|set| set.count_ones() as f32);
            let win = (0.5 + 0.2 * (own - enemy)).clamp(0.0, 1.0);
            outlook.wdl = [win, 0.0, 1.0 - win];
        }
        Ok(())
    }
}

fn played(rule: Option<Resign>, threads: usize) -> (tempfile::TempDir, Played) {
    let folder = tempfile::tempdir().unwrap();
    let config = SelfplayConfig { resign: rule, ..config() };
    let batch = Batch {
        header: &header(),
        config: &config,
        games: 0..40,
        folder: folder.path(),
        tables: None,
        beginnings: &Beginnings::default(),
    };
    let evaluator = || Ok(Box::new(Counting) as Box<dyn Evaluator>);
    let source = Source::Search { search: SearchConfig::default(), evaluator: &evaluator };
    let played = batch.play(&source, around(&pool(threads), &|| false, &silent())).unwrap();
    (folder, played)
}

/// The slow twin of the rule: every three of a side's searched plies in a row.
fn gives_up(game: &GameRecord, rule: &Resign) -> Option<(usize, Color)> {
    (0..game.plies.len()).find_map(|ply| {
        let side = game.positions().nth(ply)?.side_to_move();
        let own: Vec<_> = (0..=ply)
            .filter(|&earlier| game.positions().nth(earlier).unwrap().side_to_move() == side)
            .map(|earlier| &game.plies[earlier])
            .collect();
        let last = own.len().checked_sub(rule.plies as usize).map(|from| &own[from..])?;
        let lost = last.iter().all(|ply| ply.value.is_some_and(|v| f64::from(v) <= rule.below));
        lost.then_some((ply, side))
    })
}

#[test]
fn a_side_resigns_where_it_has_found_itself_lost_often_enough() {
    let (_folder, whole) = played(None, 2);
    let (folder, cut) = played(Some(RULE), 2);
    let mut resigned = 0;
    for (whole, cut) in games(&whole).iter().zip(games(&cut)) {
        cut.replay(OLYMPIAD).unwrap();
        match gives_up(whole, &RULE) {
            Some((ply, side)) if ply + 1 < whole.plies.len() => {
                resigned += 1;
                assert_eq!(cut.plies, whole.plies[..=ply]);
                assert_eq!(cut.result.ending, Ending::Resignation);
                assert_eq!(cut.result.outcome, Outcome::Win(side.other()));
                assert_eq!(RULE.judge(&cut), Some(GivenUp { ply, side, wrong: None }));
            }
            _ => {
                assert_eq!(&cut, whole);
                assert_eq!(RULE.judge(&cut), None);
            }
        }
    }
    assert!((5..40).contains(&resigned), "{resigned} of 40 games");
    let counted = cut.progress.totals.resignations;
    assert_eq!(counted, Resignations { given_up: resigned, played_on: 0, wrong: 0 });
    assert_eq!(counted.false_positives(), None);
    let (other, _) = played(Some(RULE), 1);
    assert_eq!(contents(folder.path()), contents(other.path()));
}

#[test]
fn games_played_on_tell_how_often_that_is_wrong() {
    let (_folder, whole) = played(None, 2);
    let rule = Resign { played_on: 1.0, ..RULE };
    let (_other, on) = played(Some(rule.clone()), 2);
    assert_eq!(games(&on), games(&whole));
    let mut counted = Resignations::default();
    for game in games(&whole) {
        let Some((ply, side)) = gives_up(&game, &rule) else { continue };
        if ply + 1 < game.plies.len() {
            counted.given_up += 1;
            counted.played_on += 1;
            counted.wrong += u64::from(game.result.outcome != Outcome::Win(side.other()));
        }
    }
    assert_eq!(on.progress.totals.resignations, counted);
    assert!(counted.wrong > 0, "{counted}");
    // Some of them: neither all nor none.
    let (_third, some) = played(Some(Resign { played_on: 0.5, ..RULE }), 2);
    let some = some.progress.totals.resignations;
    assert_eq!(some.given_up, counted.given_up);
    assert!((1..some.given_up).contains(&some.played_on), "{some}");
}

#[test]
fn a_game_given_up_softly_goes_on_with_fast_searches() {
    let rule = Resign { soft: true, ..RULE };
    let (_folder, eased) = played(Some(rule.clone()), 2);
    let (mut given_up, mut full) = (0, 0);
    for game in games(&eased) {
        game.replay(OLYMPIAD).unwrap();
        assert!(game.result.ending.is_by_rule());
        let Some(GivenUp { ply, .. }) = rule.judge(&game) else { continue };
        given_up += 1;
        full += game.plies[..=ply].iter().filter(|ply| ply.search == SearchKind::Full).count();
        for ply in &game.plies[ply + 1..] {
            assert_eq!((ply.search, &ply.policy), (SearchKind::Fast, &Policy::None));
        }
    }
    assert!(given_up >= 5 && full > 0, "{given_up}, {full}");
    let counted = eased.progress.totals.resignations;
    assert_eq!((counted.given_up, counted.played_on), (given_up, given_up));
}
